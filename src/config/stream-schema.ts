import { Type } from 'typebox'
import { signaturePolicies } from '../artifacts/fetcher.ts'
import { changePolicies, defaultChangePolicies } from '../core/change.ts'
import { closed, list, namedBy, oneOf, text } from './schema-parts.ts'

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount'

const configMapSchema = Type.Object(
  {
    namespace: text('name', 'Its namespace.', { default: 'openshift-machine-config-operator' }),
    name: text('name', 'Its name.', { default: 'coreos-bootimages' }),
    server: Type.Optional(
      text('base-url', 'The API server. Default: the cluster in which the service runs.'),
    ),
    tokenFile: text('path', 'The token of a service account that may read it.', {
      default: `${serviceAccount}/token`,
    }),
    caFile: text('path', 'The certificates of the API server.', { default: `${serviceAccount}/ca.crt` }),
  },
  { ...closed, description: 'A ConfigMap, read from the API of a cluster.' },
)

const headerValueSchema = Type.Union(
  [
    text('header-value', 'The value itself.', { secret: true }),
    Type.Object(
      {
        env: Type.Optional(text('environment-variable', 'The environment variable that holds it.')),
        file: Type.Optional(text('path', 'The file that holds it.')),
      },
      { ...closed, exactlyOne: ['env', 'file'] },
    ),
  ],
  { description: 'A value, or where to find it.', allowed: 'a text, { env: NAME } or { file: PATH }' },
)

const sourceSchema = Type.Object(
  {
    url: Type.Optional(text('http-url', 'A metadata document; its format is recognised from its content.')),
    file: Type.Optional(text('path', 'The same as a file. It is watched.')),
    directory: Type.Optional(text('path', 'A folder with the layout of a stream base URL: `<stream>.json`.')),
    configMap: Type.Optional(configMapSchema),
    stream: Type.Optional(
      text('name', 'Which document of `directory`. Default: the name of the stream here.'),
    ),
    mirrors: Type.Optional(
      list(
        text('http-url', 'The same document elsewhere.'),
        'Asked when `url` does not answer. A rollback must be seen at `url` itself.',
      ),
    ),
    baseUrl: Type.Optional(text('base-url', 'Where the files are, for documents that do not say it.')),
    configMapStream: Type.Optional(text('config-map-stream', 'Which of the streams of a ConfigMap.')),
    arch: Type.Optional(text('arch', 'The architecture of an old document that does not say it.')),
    releaseIndex: Type.Optional(
      text('http-url', 'The release index, to find releases that are no longer current.'),
    ),
    headers: Type.Optional(
      namedBy('header-name', headerValueSchema, 'Request headers for the origin of `url`, and for no other.'),
    ),
  },
  {
    ...closed,
    exactlyOne: ['url', 'file', 'directory', 'configMap'],
    description: 'Where its metadata comes from.',
  },
)

const changesSchema = Type.Object(
  {
    advanced: oneOf(changePolicies, 'A release that this stream did not have before.', {
      default: defaultChangePolicies.advanced,
    }),
    rolledBack: oneOf(changePolicies, 'A release that it had before, or a lower one.', {
      default: defaultChangePolicies['rolled-back'],
    }),
    republished: oneOf(changePolicies, 'The same release with other digests.', {
      default: defaultChangePolicies.republished,
    }),
  },
  {
    ...closed,
    section: true,
    description:
      'What to do when it moves. follow: at once. confirm: when a second refresh says the same. hold: report it and stay.',
  },
)

export const streamSchema = Type.Object(
  {
    source: sourceSchema,
    architectures: list(text('arch', 'One architecture.'), 'What is kept ready.', {
      default: ['x86_64'],
      minItems: 1,
      uniqueItems: true,
    }),
    refresh: text('duration', 'How often it is looked at, with some jitter.', { default: '15m' }),
    keep: Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 2,
      description: 'Previous bootimages that are kept for a rollback.',
    }),
    signatures: oneOf(
      signaturePolicies,
      'OpenPGP signatures of the files. off: not looked at. if-present: a bad one is refused. required: a missing one too.',
      { default: 'if-present' },
    ),
    keys: Type.Optional(
      list(
        text('path', 'A file with public keys.'),
        'Keys trusted for this stream, instead of the common ones.',
      ),
    ),
    mirrors: list(
      text('base-url', 'A base URL.'),
      'Asked for artifacts before the location in the metadata.',
      {
        default: [],
      },
    ),
    changes: changesSchema,
    loaderSet: Type.Optional(
      text('name', 'The set of `boot.loaders.sets` whose shim and GRUB start its kernels under Secure Boot.'),
    ),
  },
  { ...closed, description: 'One stream.' },
)

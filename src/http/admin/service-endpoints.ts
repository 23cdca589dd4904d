import Type from 'typebox'
import type { Endpoints } from './endpoint.ts'
import {
  BootimageQuery,
  BootimageSummary,
  ExplainQuery,
  Explanation,
  GcReport,
  GcRequest,
  ImportReport,
  ImportRequest,
  LoadersReport,
  maxDocumentLength,
  Nothing,
  ReloadReport,
  RenderedScript,
  RenderQuery,
  StreamSummary,
  SyncReport,
  SyncRequest,
  VerifyReport,
  WebhookSummary,
  WebhookTest,
} from './schemas/service.ts'
import { word } from './schemas/text.ts'

const strict = { additionalProperties: false }

/**
 * The part of the API about streams, files and decisions, as a table. An answer to work comes when the work is done;
 * meanwhile `GET /bootimages` tells how far it is (field case 147).
 */
export const serviceEndpoints = {
  listStreams: {
    method: 'GET',
    path: '/streams',
    summary: 'Every configured stream, how fresh it is, and where it stands for each architecture.',
    answer: Type.Object({ streams: Type.Array(StreamSummary) }, strict),
  },
  listBootimages: {
    method: 'GET',
    path: '/bootimages',
    summary: 'Bootimages that are known, with their state and the progress of a fetch.',
    query: BootimageQuery,
    answer: Type.Object({ bootimages: Type.Array(BootimageSummary) }, strict),
  },
  listLoaders: {
    method: 'GET',
    path: '/loaders',
    summary: 'iPXE, GRUB and shim as they are served, what is missing, and the Secure Boot sets.',
    answer: LoadersReport,
  },
  explain: {
    method: 'GET',
    path: '/explain',
    summary: 'What a machine would boot and why, without a trace.',
    query: ExplainQuery,
    answer: Explanation,
  },
  render: {
    method: 'POST',
    path: '/render',
    summary: 'The script that a machine would get now.',
    body: RenderQuery,
    answer: RenderedScript,
  },
  sync: {
    method: 'POST',
    path: '/sync',
    summary: 'Refresh streams and fetch what they want.',
    body: SyncRequest,
    answer: SyncReport,
  },
  verify: {
    method: 'POST',
    path: '/verify',
    summary: 'Read every file again and compare it with its digest.',
    body: Nothing,
    answer: VerifyReport,
  },
  gc: {
    method: 'POST',
    path: '/gc',
    summary: 'Remove files that nothing needs.',
    body: GcRequest,
    answer: GcReport,
  },
  importDocument: {
    method: 'POST',
    path: '/import',
    summary: 'Take in a metadata document of a stream by hand.',
    body: ImportRequest,
    // JSON spells a character with up to six bytes; twice the text is enough for real documents.
    maxBodyBytes: 2 * maxDocumentLength,
    answer: ImportReport,
  },
  reload: {
    method: 'POST',
    path: '/reload',
    summary: 'Read the configuration again; a bad one changes nothing.',
    body: Nothing,
    answer: ReloadReport,
  },
  listWebhooks: {
    method: 'GET',
    path: '/webhooks',
    summary: 'Who is told of what happens, and how well they are reached.',
    answer: Type.Object({ webhooks: Type.Array(WebhookSummary) }, strict),
  },
  testWebhook: {
    method: 'POST',
    path: '/webhooks/:name/test',
    params: Type.Object({ name: word('Of a webhook of the configuration.', 63) }, strict),
    summary: 'Send one message of type test to a webhook, and wait for its answer.',
    answer: WebhookTest,
  },
} as const satisfies Endpoints

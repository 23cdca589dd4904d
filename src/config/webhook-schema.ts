import { Type } from 'typebox'
import { webhookEventTypes } from '../core/webhook.ts'
import { closed, list, oneOf, text } from './schema-parts.ts'

/** One of `webhooks`. */
export const webhookSchema = Type.Object(
  {
    name: text('name', 'What commands and the log call it.'),
    url: text('webhook-url', 'Where messages are sent to by POST.', { secret: true }),
    secretFile: text(
      'path',
      'A file with the secret that they are signed with, for the receiver to check: text, or whsec_ and base64.',
    ),
    events: list(oneOf(webhookEventTypes, 'A kind of event.'), 'What it is told of.', {
      minItems: 1,
      uniqueItems: true,
    }),
  },
  { ...closed, description: 'A receiver.' },
)

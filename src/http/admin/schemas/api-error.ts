import Type, { type Static } from 'typebox'
import { type ErrorCode, errorTexts } from '../../../core/errors.ts'
import type { DeepReadonly } from './deep-readonly.ts'

/** The body of every error of the admin listener and of the control socket. */
export const ApiError = Type.Object(
  {
    code: Type.Enum(Object.keys(errorTexts) as ErrorCode[], { description: 'For programs.' }),
    message: Type.String({ description: 'What happened and to what; for people.' }),
    field: Type.Optional(Type.String({ description: 'The parameter or body field that is wrong.' })),
    hint: Type.Optional(Type.String({ description: 'What to do about it.' })),
  },
  { additionalProperties: false, description: 'Refused, or failed.' },
)
export type ApiError = DeepReadonly<Static<typeof ApiError>>

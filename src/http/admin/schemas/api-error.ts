import Type from 'typebox'

/** The body of every error of the admin listener; `ApiError` as a schema. */
export const ApiErrorAnswer = Type.Object(
  {
    code: Type.String({ description: 'For programs.' }),
    message: Type.String({ description: 'What happened and to what; for people.' }),
    field: Type.Optional(Type.String({ description: 'The parameter or body field that is wrong.' })),
    hint: Type.Optional(Type.String({ description: 'What to do about it.' })),
  },
  { additionalProperties: false, description: 'Refused, or failed.' },
)

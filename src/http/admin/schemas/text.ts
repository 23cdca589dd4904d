import Type from 'typebox'

/**
 * One line that shows what it is: no control characters, no marks that turn the reading direction, no halves of
 * characters. What passes can be logged, printed on a terminal and kept by any store.
 */
const oneLine = '^[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]+$'

/** A name, a value to look for; what it may be in detail is for whoever reads it. */
export const word = (description: string, maxLength = 200) =>
  Type.String({ minLength: 1, maxLength, pattern: oneLine, description })

/** A sentence of an admin. */
export const line = (description: string) => word(description, 200)

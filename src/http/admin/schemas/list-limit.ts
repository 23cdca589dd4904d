/** Most items of one page of a list. */
export const maxListLimit = 1000

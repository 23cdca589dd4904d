import { fileURLToPath } from 'node:url'

/** The templates that come with the program; one level above `dist/` as above `src/`. */
export const shippedTemplates = fileURLToPath(new URL('../../templates', import.meta.url))

/** Templates, style sheet and script of the admin listener's page. */
export const shippedPage = fileURLToPath(new URL('../../templates/dashboard', import.meta.url))

import type { PageTemplates } from './page-templates.ts'

/** Rows as HTML; the same row for the same machine as long as it says the same. */
export type RowWriter = (rows: readonly object[]) => string

/** Of a row that is kept: what is longer is nothing that a usual machine says. */
const mostCharacters = 4_096

/**
 * Most rows are as they were when the page was asked for last, by this admin or another, and a row costs ten times as
 * much to render as to find again.
 * @param most rows that are kept; when there are more, all are made anew
 */
export function createRowWriter(templates: PageTemplates, most = 4_000): RowWriter {
  const written = new Map<string, string>()

  function write(row: object): string {
    const key = JSON.stringify(row)
    const known = written.get(key)
    if (known !== undefined) return known
    const html = templates.render('row', { row })
    if (written.size >= most) written.clear()
    if (key.length <= mostCharacters) written.set(key, html)
    return html
  }

  return (rows) => rows.map(write).join('')
}

import type { Documented, DocumentedField, DocumentedOperation } from './read-openapi.ts'

/** The API as one page of HTML, without scripts and inline styles. */
export function docsPage({ version, operations }: Documented): string {
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  const ofTag = (tag: string) => operations.filter((operation) => operation.tag === tag)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pilotlight API</title>
<link rel="stylesheet" href="docs.css">
</head>
<body>
<header>
<h1>Pilotlight ${escapeHtml(version)} API</h1>
<p>Every request carries <code>Authorization: Bearer &lt;token&gt;</code>.
Make a token on the machine of the service: <code>pilotlight token create NAME --role read</code>.</p>
<p>For programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<nav aria-label="Parts">${tags.map((tag) => `<a href="#${escapeHtml(tag)}">${escapeHtml(tag)}</a>`).join(' ')}</nav>
</header>
<main>
${tags.map((tag) => section(tag, ofTag(tag))).join('\n')}
</main>
</body>
</html>
`
}

function section(tag: string, operations: readonly DocumentedOperation[]): string {
  return `<section id="${escapeHtml(tag)}">
<h2>${escapeHtml(tag)}</h2>
${operations.map(article).join('\n')}
</section>`
}

function article(operation: DocumentedOperation): string {
  const { method, path, summary, description, parameters, body, answer } = operation
  return `<details>
<summary><code class="method">${escapeHtml(method)}</code> <code>${escapeHtml(path)}</code> <span>${escapeHtml(summary)}</span></summary>
<p>${escapeHtml(description)}</p>
${[table('Parameters', parameters), table('Body', body), table('Answer', answer)].join('')}</details>`
}

function table(title: string, fields: readonly DocumentedField[]): string {
  if (fields.length === 0) return ''
  const rows = fields.map(
    ({ name, place, isRequired, type, description }) =>
      `<tr><th scope="row"><code>${escapeHtml(name)}</code></th><td>${escapeHtml(type)}</td><td>${[
        place ?? '',
        isRequired ? 'required' : 'optional',
      ]
        .filter((word) => word !== '')
        .join(', ')}</td><td>${escapeHtml(description)}</td></tr>`,
  )
  return `<h3>${title}</h3>
<table>
<thead><tr><th scope="col">name</th><th scope="col">type</th><th scope="col">need</th><th scope="col">meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
`
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

export const docsStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 0 auto; padding: 1rem; }
nav a { margin-right: .75rem; }
h2 { border-bottom: 1px solid; padding-bottom: .25rem; }
summary { cursor: pointer; padding: .35rem 0; }
.method { display: inline-block; min-width: 4rem; font-weight: bold; }
summary span { opacity: .85; margin-left: .5rem; }
table { border-collapse: collapse; margin: 0 0 1rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
`

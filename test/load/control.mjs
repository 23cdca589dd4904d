import { request } from 'node:http'

/** One question over the control socket, whose file is the credential; the answer, parsed. */
export function askControl(socketPath, path, { method = 'GET', body } = {}) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, method, headers }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      if (response.statusCode === 200) resolve(JSON.parse(text))
      else reject(new Error(`${path} answered ${response.statusCode}: ${text}`))
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

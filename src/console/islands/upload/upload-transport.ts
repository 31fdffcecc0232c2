import { root } from '../dom.ts'
import type { Reply, Transport } from './upload-run.ts'

/** Maximum bytes of a file that is hashed first, so that bytes that the server already has are not sent. */
const maxHashed = 64 * 1024 * 1024

/** Returns access to the API in a browser. The signal aborts everything. @param token of the page's forms */
export function browserTransport(token: string, signal: AbortSignal): Transport {
  return {
    async call(method, path, body): Promise<Reply> {
      try {
        const response = await fetch(root + path, {
          ...{ method, signal },
          headers: { 'x-csrf-token': token, ...(body !== undefined && { 'content-type': 'application/json' }) },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const retryAfter = response.headers.get('retry-after')
        return { status: response.status, body: parsed(await response.text()), retryAfter }
      } catch {
        return { status: 0, body: undefined, retryAfter: null }
      }
    },
    // `fetch` does not report the progress of an upload.
    sendBlob: (path, range, blob, sent) =>
      new Promise((resolve) => {
        const xhr = new XMLHttpRequest()
        xhr.open('PATCH', root + path)
        const headers = { 'content-type': 'application/octet-stream', 'content-range': range, 'x-csrf-token': token }
        for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value)
        xhr.upload.addEventListener('progress', ({ loaded }) => sent(loaded))
        const abort = () => xhr.abort()
        signal.addEventListener('abort', abort, { once: true })
        xhr.addEventListener('loadend', () => {
          signal.removeEventListener('abort', abort)
          const retryAfter = xhr.status === 0 ? null : xhr.getResponseHeader('retry-after')
          resolve({ status: xhr.status, body: parsed(xhr.responseText), retryAfter })
        })
        xhr.send(blob)
      }),
    hash: hashOf,
    wait: (milliseconds) => pause(milliseconds, signal),
  }
}

/** Returns undefined for a large file, and if the browser has no SHA-256, as without TLS. */
async function hashOf(file: File): Promise<string | undefined> {
  if (file.size > maxHashed || globalThis.crypto?.subtle === undefined) return undefined
  const hash = await crypto.subtle.digest('SHA-256', await file.arrayBuffer())
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    addEventListener('online', done)
    signal.addEventListener('abort', done)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

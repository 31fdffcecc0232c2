import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGunzip } from 'node:zlib'

/** Serves the repositories below a folder by native `git http-backend`. @returns the address of the folder, and how to stop */
export async function serveBareGit(root: string): Promise<{ url: string; stop: () => void }> {
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
    const { headers, method } = request
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: method,
        REMOTE_USER: 'bench',
        CONTENT_TYPE: headers['content-type'] ?? '',
        HTTP_GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
      },
    })
    const body = headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
    body.pipe(backend.stdin)
    const chunks: Buffer[] = []
    backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    backend.on('close', () => {
      const output = Buffer.concat(chunks)
      const end = output.indexOf('\r\n\r\n')
      const lines = output.toString('latin1', 0, end).split('\r\n')
      for (const line of lines) response.appendHeader(line.replace(/:.*/, ''), line.replace(/^.*?: /, ''))
      response.end(output.subarray(end + 4))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, stop: () => void server.close() }
}

import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening } from '../../support/listening.ts'
import type { ForgeGit } from './forge-git.ts'

/** What becomes of a request: it is answered so, or its answer is lost after it was done. */
export type Fault =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | 'lose the answer'
  | 'never answer'
export type Request = { method: string; path: string; headers: IncomingHttpHeaders; body: Buffer; sent: unknown }
export type Answer = { status: number; body: unknown; headers?: Record<string, string> }

export type FrontOptions = {
  git: ForgeGit
  /** Of the repository: `/acme/handbook.git/`. */
  gitPath: string
  /** Whether git is let in with a password. */
  isPassword(password: string): boolean
  answer(request: Request): Promise<Answer>
  /** Branches may have moved. */
  onPush(): Promise<void>
  /** Takes a request that is none of ours. */
  divert?(request: Request): boolean
  hasEtags: boolean
}

/** The server of a forge: its API and its git, behind one address. Requests can come to grief. */
export async function startFront({ git, gitPath, isPassword, answer, onPush, divert, hasEtags }: FrontOptions) {
  const faults: { matches: RegExp; fault: Fault; after: number }[] = []
  const requests: string[] = []

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const { method = 'GET', headers, url: path = '/' } = request
    const isGit = path.startsWith(gitPath)
    const sent = isGit || body.length === 0 ? undefined : JSON.parse(body.toString())
    const asked = { method, path, headers, body, sent }
    if (divert?.(asked)) return void response.end()
    requests.push(`${method} ${path}`)
    const found = faults.findIndex((fault) => fault.matches.test(`${method} ${path}`) && fault.after-- === 0)
    const [{ fault } = { fault: undefined }] = found < 0 ? [] : faults.splice(found, 1)
    if (fault === 'never answer') return
    if (typeof fault === 'object') {
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
      response.end(JSON.stringify(fault.body ?? { message: 'As the test has it' }))
      return
    }
    if (isGit) {
      if (!isPassword(passwordIn(headers))) return void response.writeHead(401, { 'www-authenticate': 'Basic' }).end()
      if (fault === 'lose the answer') {
        await git.serve(request, new Lost() as unknown as ServerResponse, body)
        response.destroy()
      } else await git.serve(request, response, body)
      if (path.endsWith('/git-receive-pack')) await onPush()
      return
    }
    const shown = await answer(asked)
    if (fault === 'lose the answer') return void response.destroy()
    const text = shown.body === null ? '' : JSON.stringify(shown.body)
    const etag = `"${createHash('sha256').update(text).digest('hex')}"`
    const isKept = hasEtags && method === 'GET' && shown.status === 200
    const isSame = isKept && headers['if-none-match'] === etag
    response.writeHead(isSame ? 304 : shown.status, {
      'content-type': 'application/json',
      ...(isKept ? { etag } : {}),
      ...shown.headers,
    })
    response.end(isSame ? undefined : text)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(
      (error) => response.headersSent || response.writeHead(599).end(JSON.stringify({ message: String(error) })),
    )
  })
  return {
    url: await listening(server),
    /** What was asked of the API or of git, in order. */
    requests,
    /** A request that matches comes to grief: the next one, or the one after some others. */
    fail: (matches: RegExp, fault: Fault, after = 0) => faults.push({ matches, fault, after }),
    /** What was to come to grief does not. @returns whether nothing was left to */
    mend: () => faults.splice(0).length === 0,
  }
}

/** A response that nobody reads. */
class Lost {
  writeHead(): void {}
  end(): void {}
}

function passwordIn({ authorization }: IncomingHttpHeaders): string {
  const basic = Buffer.from(authorization?.replace(/^Basic /, '') ?? '', 'base64').toString()
  return basic.split(':')[1] ?? ''
}

import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening } from '../../support/listening.ts'
import type { ForgeGit } from './forge-git.ts'

/**
 * Treatment of a request: it gets this answer; it is done, but its answer is lost, or truncated; or it is never answered (a function is
 * called then).
 */
export type Fault =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | 'lose the answer'
  | 'cut the answer'
  | 'never answer'
  | (() => void)
/** Pattern of requests, matched with {@link labelOf}. */
type Matcher = { test(label: string): boolean; source: string }
export type Request = { method: string; path: string; headers: IncomingHttpHeaders; body: Buffer; sent: unknown }
export type Answer = { status: number; body: unknown; headers?: Record<string, string> }

export type FrontOptions = {
  git: ForgeGit
  /** Path of the repository: `/acme/handbook.git/`. */
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
  const faults: { matches: Matcher; fault: Fault; after: number }[] = []
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
    const label = labelOf(asked)
    requests.push(label)
    const found = faults.findIndex((fault) => fault.matches.test(label) && fault.after-- === 0)
    const [{ fault } = { fault: undefined }] = found < 0 ? [] : faults.splice(found, 1)
    if (typeof fault === 'function') return fault()
    if (fault === 'never answer') return
    if (typeof fault === 'object') {
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
      response.end(JSON.stringify(fault.body ?? { message: 'As the test has it' }))
      return
    }
    if (isGit) {
      const isStranger = !isPassword(passwordIn(headers))
      if (isStranger && fault !== undefined) return void response.destroy()
      if (isStranger) return void response.writeHead(401, { 'www-authenticate': 'Basic' }).end()
      if (fault === undefined) await git.serve(request, response, body)
      else {
        const answer = new Kept()
        await git.serve(request, answer as unknown as ServerResponse, body)
        if (fault === 'cut the answer') cut(response, answer)
        else response.destroy()
      }
      if (path.endsWith('/git-receive-pack')) await onPush()
      return
    }
    const shown = await answer(asked)
    if (fault === 'lose the answer') return void response.destroy()
    const text = shown.body === null ? '' : JSON.stringify(shown.body)
    const etag = `"${createHash('sha256').update(text).digest('hex')}"`
    const isKept = hasEtags && method === 'GET' && shown.status === 200
    const isSame = isKept && headers['if-none-match'] === etag
    const status = isSame ? 304 : shown.status
    const shownHeaders = { 'content-type': 'application/json', ...(isKept ? { etag } : {}), ...shown.headers }
    if (fault === 'cut the answer') return cut(response, { status, headers: shownHeaders, body: Buffer.from(text) })
    response.writeHead(status, shownHeaders)
    response.end(isSame ? undefined : text)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(
      (error) => response.headersSent || response.writeHead(599).end(JSON.stringify({ message: String(error) })),
    )
  })
  return {
    url: await listening(server),
    /** Requests to the API or to git, in order. */
    requests,
    /** A request that matches comes to grief: the next one, or the one after some others. */
    fail: (matches: Matcher, fault: Fault, after = 0) => faults.push({ matches, fault, after }),
    awaitsFaults: () => faults.length > 0,
    /** No fault happens any more. @returns what those were to match that have not happened */
    mend: () => faults.splice(0).map(({ matches }) => matches.source),
  }
}

/** Returns the label of a request: method and path, the command of git, and the requested state of a pull request. */
function labelOf({ method, path, body, sent }: Request): string {
  const [, command] = path.endsWith('/git-upload-pack') ? (/command=([a-z-]+)/.exec(body.toString('latin1')) ?? []) : []
  const { state, state_event: event } = (method === 'PATCH' || method === 'PUT' ? sent : {}) as Record<string, unknown>
  return [method, path, command, state ?? event].filter((part) => part !== undefined).join(' ')
}

type Shown = { status: number; headers: Record<string, string>; body: Buffer }

/** An answer that is not sent. */
class Kept implements Shown {
  status = 200
  headers: Record<string, string> = {}
  body: Buffer = Buffer.alloc(0)

  writeHead(status: number, headers: Record<string, string>): void {
    Object.assign(this, { status, headers })
  }

  end(body: Buffer): void {
    this.body = body
  }
}

/** Sends the first half of an answer. */
function cut(response: ServerResponse, { status, headers, body }: Shown): void {
  response.writeHead(status, { ...headers, 'content-length': String(body.length + 1) })
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy())
}

function passwordIn({ authorization }: IncomingHttpHeaders): string {
  const basic = Buffer.from(authorization?.replace(/^Basic /, '') ?? '', 'base64').toString()
  return basic.split(':')[1] ?? ''
}

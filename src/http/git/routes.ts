import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { errorTable, GanglionError } from '../../contract/errors.ts'
import { encodePacket } from '../../git/serve/pkt-line.ts'
import { readPushHead, rejectPush } from '../../git/serve/push-head.ts'
import { type GitDoor, type GitLimits, type GitService, GitTransfers } from '../../push/git/git-transfers.ts'
import { openGitDoor } from '../../push/git/open-git-door.ts'
import { callerOf } from '../access/auth.ts'
import type { Limits } from '../access/rate-limits.ts'
import { whenClientGone } from '../request/client-gone.ts'
import { answerError, refusalOf } from '../response/error-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'

/** Maximum bytes of a body. `given`: passed to git, after inflating. `read`: read at all, to reject an uncompressed push with a reason. */
type BodyLimits = { given: number; read: number }

/** Milliseconds for which the rest of a body that is too large is read and dropped. */
const dropTime = 60_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Service whose request is in the body, in git's own protocol. */
    gitService?: GitService
  }
}

const Envelope = z.object({ message: z.string() }).catch({ message: errorTable.malformed_request.message })
const gitAgent = /^(?:j|go-)?git\//i

/** Statuses sent unchanged, because the body must not be read, or is not in git's protocol. */
const toldByStatus: ReadonlySet<number> = new Set([400, 401, 403, 413, 415])

export type GitOptions = Partial<GitLimits> & {
  /** Milliseconds for which transfers may continue while the server closes. */
  grace?: number
  /** Function that opens a repository for an authorized caller; by default {@link openGitDoor}. */
  openDoor?: typeof openGitDoor
}

const Repository = z.object({ tenant: z.string(), repository: z.string() })
/**
 * A push is read up to this multiple of its limit, so that the pusher gets the reason in git's protocol: git does not show a 413.
 */
const pushExcess = 8
const ServiceQuery = z.object({ service: z.enum(['git-upload-pack', 'git-receive-pack']) })

/** Adds git's smart HTTP protocol (gitprotocol-http(5)): the parts that `git clone`, `fetch` and `push` need. */
export function gitRoutes(
  app: ZodFastify,
  { ctx, limits, options }: { ctx: AppContext; limits: Limits; options: GitOptions },
): void {
  const { grace = 5000, openDoor = openGitDoor, ...bounds } = options
  const transfers = new GitTransfers(bounds)
  endTransfers(app, transfers, grace)
  app.setErrorHandler((error, request, reply) => answerGitError(error, request, reply, limitsOf))
  // git reads the body itself.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  const schema = { params: Repository }

  app.get('/:tenant/:repository/info/refs', { exposeHeadRoute: false, schema }, async (request, reply) => {
    // Without a service it would be the "dumb" protocol, which serves files of the repository.
    const query = ServiceQuery.safeParse(request.query)
    if (!query.success) throw new GanglionError('not_found')
    const service = query.data.service === 'git-upload-pack' ? 'upload-pack' : 'receive-pack'
    if (service === 'receive-pack') {
      if (callerOf(request).role !== 'curator') throw new GanglionError('insufficient_role')
      await limits.checkDisk()
    }
    const door = await doorFor(request, request.params)
    return serve(request, reply, door, { service })
  })

  app.post(
    '/:tenant/:repository/git-upload-pack',
    {
      config: { rate: 'read', upload: true, gitService: 'upload-pack' },
      bodyLimit: limitsOf('upload-pack').read,
      schema,
    },
    async (request, reply) => exchange(request, reply, request.params, 'upload-pack'),
  )

  app.post(
    '/:tenant/:repository/git-receive-pack',
    {
      config: { roles: ['curator'], upload: true, gitService: 'receive-pack' },
      bodyLimit: limitsOf('receive-pack').read,
      schema,
    },
    async (request, reply) => exchange(request, reply, request.params, 'receive-pack'),
  )

  // Git LFS would report that the repository is missing if there were no such route.
  app.post('/:tenant/:repository/info/lfs/objects/batch', { schema }, async (request, reply) => {
    await doorFor(request, request.params)
    reply.code(501).type('application/vnd.git-lfs+json')
    return JSON.stringify({
      message: 'This server keeps no Git LFS objects: commit the files themselves, up to 2 MB each.',
    })
  })

  function doorFor(request: FastifyRequest, { tenant, repository }: z.infer<typeof Repository>): Promise<GitDoor> {
    const reachedAt = `${request.protocol}://${request.host}`
    return openDoor(ctx, callerOf(request), { tenant, kb: repository.replace(/\.git$/, ''), reachedAt })
  }

  async function exchange(
    request: FastifyRequest,
    reply: FastifyReply,
    repository: z.infer<typeof Repository>,
    service: GitService,
  ): Promise<FastifyReply> {
    const door = await doorFor(request, repository)
    if (request.headers['content-type'] !== `application/x-git-${service}-request`) {
      throw new GanglionError('unsupported_media_type')
    }
    return serve(request, reply, door, { service, body: readBody(request, reply, limitsOf(service)) })
  }

  function limitsOf(service: GitService): BodyLimits {
    const given = transfers.maxBody(service)
    return { given, read: service === 'receive-pack' ? pushExcess * given : given }
  }

  async function serve(
    request: FastifyRequest,
    reply: FastifyReply,
    door: GitDoor,
    asked: { service: GitService; body?: AsyncIterable<Buffer> },
  ): Promise<FastifyReply> {
    const output = await transfers.serve(door, {
      ...asked,
      protocol: protocolOf(request),
      signal: whenClientGone(reply),
      onError: (error) => request.log.error({ err: error }, 'git'),
    })
    const kind = asked.body === undefined ? 'advertisement' : 'result'
    reply.headers({
      'content-type': `application/x-git-${asked.service}-${kind}`,
      'cache-control': 'no-cache, no-store',
    })
    return reply.send(Readable.from(output, { objectMode: false }))
  }
}

/** Returns the protocol version, ignoring values that git does not send: the default is one that every client knows. */
function protocolOf({ headers }: FastifyRequest): string | undefined {
  const protocol = headers['git-protocol']
  return typeof protocol === 'string' && /^[a-z0-9=:.-]{1,100}$/i.test(protocol) ? protocol : undefined
}

/** Lets transfers finish while the server closes, for a limited time. */
function endTransfers(app: ZodFastify, transfers: GitTransfers, grace: number): void {
  let timer: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    transfers.drain()
    timer = setTimeout(() => void transfers.close(), grace)
  })
  app.addHook('onClose', async () => {
    clearTimeout(timer)
    await transfers.close()
  })
}

/**
 * Sends an error as other routes do, but to a git client in a form that git shows to its user. For the advertisement of refs that is plain
 * text. For a fetch or a push, git shows only the status, unless it is 200 with the reason in git's protocol.
 */
async function answerGitError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  limitsOf: (service: GitService) => BodyLimits,
): Promise<FastifyReply> {
  if (!gitAgent.test(request.headers['user-agent'] ?? '')) return answerError(error, request, reply)
  const { gitService } = request.routeOptions.config
  const isRead = gitService === 'receive-pack' && request.raw.readableDidRead
  const refusal = gitService === undefined || isRead ? undefined : refusalOf(error, request)
  if (gitService === undefined || refusal === undefined || toldByStatus.has(refusal.status)) {
    reply.type('text/plain; charset=utf-8').serializer((body: unknown) => `${Envelope.parse(body).message}\n`)
    return answerError(error, request, reply)
  }
  const { message } = Envelope.parse(refusal.body)
  const answer =
    gitService === 'upload-pack'
      ? refusedFetch(message)
      : await refusedPush(readBody(request, reply, limitsOf(gitService)), message)
  reply.code(200).header('cache-control', 'no-cache, no-store').type(`application/x-git-${gitService}-result`)
  return reply.send(answer.toString())
}

/** Returns the answer to a rejected fetch in git's protocol: clients show the reason and stop. See gitprotocol-pack(5), error-line. */
function refusedFetch(reason: string): Buffer {
  return encodePacket(`ERR ${reason}`)
}

/**
 * Returns the answer to a rejected push in git's protocol: clients show the reason at each ref. Reads the whole request, since a client
 * reads the answer only after it has sent everything.
 * @throws {GitError} `bad-request`; errors of reading the request
 */
async function refusedPush(request: AsyncIterable<Buffer>, reason: string): Promise<Buffer> {
  const rest = request[Symbol.asyncIterator]()
  const head = await readPushHead(rest)
  while ((await rest.next()).done !== true);
  return rejectPush(head, reason)
}

/**
 * Returns a request's body as a stream, inflated if it is compressed. Bytes beyond the limit are read and dropped, because a client reads
 * the response only after it has sent everything.
 * @throws {GanglionError} `unsupported_media_type` for another encoding; while it is read, `payload_too_large` and `malformed_request`
 */
function readBody({ raw, headers }: FastifyRequest, reply: FastifyReply, limits: BodyLimits): AsyncGenerator<Buffer> {
  const encoding = headers['content-encoding']?.toLowerCase()
  if (encoding !== undefined && encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new GanglionError('unsupported_media_type', 'The content encoding is not supported.')
  }
  // The connection must outlive the reading, for the response.
  const sent: AsyncIterable<Buffer> = raw.iterator({ destroyOnReturn: false })
  // Git never compresses a push, and inflating what is dropped would be wasted work.
  const isPlain = encoding === undefined
  const { given } = limits
  return bounded(isPlain ? sent : inflated(sent), isPlain ? limits : { given, read: given }, () => {
    // It is too late for a response, and a connection whose request was not read cannot be reused.
    if (reply.raw.headersSent) raw.destroy()
  })
}

async function* bounded(
  body: AsyncIterable<Buffer>,
  { given, read }: BodyLimits,
  onFailure: () => void,
): AsyncGenerator<Buffer> {
  let bytes = 0
  let dropsUntil: number | undefined
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes <= given) {
        yield chunk
        continue
      }
      dropsUntil ??= performance.now() + dropTime
      if (bytes > read || performance.now() > dropsUntil) throw new GanglionError('payload_too_large')
    }
  } catch (error) {
    onFailure()
    throw error
  }
}

async function* inflated(sent: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip: Readable = pipeline(sent, createGunzip(), () => {})
  try {
    yield* gunzip
  } catch (cause) {
    const isBroken = cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_')
    throw isBroken ? new GanglionError('malformed_request', 'The body is not compressed as it says.') : cause
  }
}

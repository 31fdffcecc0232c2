import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { GitError } from '../git-error.ts'
import { pipeToGit } from '../native/git-process.ts'
import { meterPack, type PackLimits, PackRefused } from './pack-meter.ts'
import { encodePacket, flushPacket, startingWith } from './pkt-line.ts'
import { readPushHead, rejectPush } from './push-head.ts'
import { answerHooks, type Receiver } from './receive-hooks.ts'
import { ServiceProcess } from './service-process.ts'

export type GitService = 'upload-pack' | 'receive-pack'

export type TransferLimits = PackLimits & {
  /** Maximum bytes of a pushed pack. */
  maxPack: number
  maxRefs: number
  /** Maximum seconds of CPU time of each process. */
  cpuSeconds: number
  /** Maximum bytes of address space of each process. */
  maxMemory: number
  /** Maximum milliseconds from a process's start to its end. */
  wallTime: number
}

export type TransferRequest = {
  gitDir: string
  service: GitService
  /** Value of the client's `Git-Protocol` header; see git(1), `GIT_PROTOCOL`. */
  protocol: string | undefined
  /** Body of the client's request. Absent: refs are advertised. */
  body?: AsyncIterable<Buffer>
  /** Names of broken refs, hidden from fetches and pushes, because git would fail for them. */
  brokenRefs: readonly string[]
  /** Receiver of a push; undefined for a fetch. */
  receiver: Receiver | undefined
  /** Signal that ends git early. */
  signal: AbortSignal
  /** Called with errors of judging and receiving a push, of which the pusher learns only that the push failed. */
  onError(error: unknown): void
}

export type Transfer = {
  /** Output of git. Throws at its end if git failed or was killed. */
  output: AsyncIterable<Buffer>
  /** Resolves when git and the work for its hooks have ended, for any reason. */
  settled: Promise<void>
}

const hooksDir = fileURLToPath(new URL('../../../hooks/', import.meta.url))

/**
 * Serves one request of git's smart HTTP protocol (gitprotocol-http(5)) with native git. Resolves once git has begun to
 * respond, or has ended, so that an early failure can still be reported.
 * @throws {GitError} `git-failed`; the signal's reason; errors of reading the body
 */
export async function serveTransfer(request: TransferRequest, limits: TransferLimits): Promise<Transfer> {
  const { gitDir, service, protocol, body, brokenRefs, receiver, signal, onError } = request
  const isPush = service === 'receive-pack'
  if (isPush) await checkHooks()
  signal.throwIfAborted()
  const git = await ServiceProcess.start(gitDir, {
    service,
    protocol,
    signal,
    config: [
      ...(isPush ? receiveConfig(limits) : uploadConfig),
      ...brokenRefs.map((ref) => `transfer.hideRefs=${ref}`),
    ],
    args: ['--stateless-rpc', ...(body === undefined ? ['--http-backend-info-refs'] : []), '.'],
    channels: isPush ? 5 : 0,
    ...limits,
  })
  const fed = isPush ? feedPush(body, git, limits) : pipeToGit(body, git.stdin)
  fed.catch((error: unknown) => git.stop(error))
  const [question, verdict, commands, reports, messages] = git.channels
  const hooks =
    receiver && question && verdict && commands && reports && messages
      ? answerHooks({ question, verdict, commands, reports, messages }, { gitDir, receiver, onError, ...limits })
      : undefined
  const settled = Promise.all([git.ended, hooks]).then(() => {})
  if (!(await hasOutput(git.output))) {
    await settled
    if (git.failure instanceof PackRefused) return { output: Readable.from([await fed]), settled }
    if (git.failure !== undefined) throw git.failure
  }
  const isAnnounced = body === undefined && (isPush || !isVersion2(protocol))
  return {
    output: readToEnd(git, isAnnounced ? [encodePacket(`# service=git-${service}\n`), flushPacket] : []),
    settled,
  }
}

/** True if a client requests version 2 of the protocol, in which refs are requested instead of advertised. */
export function isVersion2(protocol: string | undefined): boolean {
  return protocol?.split(':').includes('version=2') === true
}

const anyOwner = 'safe.directory=*'

/** Settings of `upload-pack`. Allows only filters whose cost is linear in what is sent: combined ones multiply, sparse ones match every path. */
const uploadConfig: readonly string[] = [
  anyOwner,
  'uploadpack.allowFilter=true',
  'uploadpackfilter.allow=false',
  ...['blob:none', 'blob:limit', 'tree'].map((filter) => `uploadpackfilter.${filter}.allow=true`),
  'uploadpackfilter.tree.maxDepth=0',
]

/** Returns settings of `receive-pack`. With `proc-receive` for all refs, git moves none itself. */
function receiveConfig({ maxPack }: TransferLimits): string[] {
  return [
    anyOwner,
    `core.hooksPath=${hooksDir}`,
    'receive.procReceiveRefs=refs',
    'receive.hideRefs=refs/ganglion',
    `receive.maxInputSize=${maxPack}`,
    // Every push stays one pack, so that only its folder is left to be flushed.
    'receive.unpackLimit=1',
    'receive.fsckObjects=true',
    // `.`, `..`, `.git` and its aliases on some file systems: the receiver rejects them with the path, which git would not name.
    ...['hasDot', 'hasDotdot', 'hasDotgit'].map((problem) => `receive.fsck.${problem}=ignore`),
    'receive.shallowUpdate=false',
    'receive.advertisePushOptions=true',
    'receive.advertiseAtomic=true',
    'receive.autogc=false',
    'receive.updateServerInfo=false',
    // Overrides commands in the repository's settings: for the tips of its alternates, and for signed pushes.
    'core.alternateRefsCommand=true',
    'gpg.program=false',
    'gpg.x509.program=false',
    'gpg.ssh.program=false',
  ]
}

/** Checks that the hooks are executable, since git skips one that is not. @throws {GitError} */
async function checkHooks(): Promise<void> {
  for (const name of ['pre-receive', 'proc-receive']) {
    const hook = join(hooksDir, name)
    await access(hook, constants.X_OK).catch((cause: unknown) => {
      throw new GitError('git-failed', `${hook} must be there and be executable`, { cause })
    })
  }
}

/**
 * Sends a push to git, its pack only as far as it fits the limits. Resolves with the response to send instead of git's if the
 * push is rejected; git is then ended.
 */
async function feedPush(
  body: AsyncIterable<Buffer> | undefined,
  git: ServiceProcess,
  limits: PackLimits,
): Promise<Buffer | undefined> {
  if (body === undefined) return pipeToGit(body, git.stdin)
  const request = body[Symbol.asyncIterator]()
  const head = await readPushHead(request)
  try {
    // Each ref is moved separately, and can fail separately.
    if (head.refs.length > 1 && head.capabilities.has('atomic')) {
      throw new PackRefused('An atomic push may move one ref: push the refs one by one.')
    }
    const pack = meterPack(startingWith(head.rest, request), limits)
    return await pipeToGit(startingWith(head.bytes, pack), git.stdin)
  } catch (error) {
    if (!(error instanceof PackRefused)) throw error
    const isAnswered = git.hasAnswered
    if (!isAnswered) {
      git.discardOutput()
      git.stop(error)
    }
    await pipeToGit({ [Symbol.asyncIterator]: () => request }, git.stdin)
    return isAnswered ? undefined : rejectPush(head, error.message)
  }
}

/** Resolves with true at the first byte, or with false at an end without one. */
function hasOutput(output: Readable): Promise<boolean> {
  return new Promise((resolve) => {
    output.once('readable', () => resolve(output.readableLength > 0))
    output.once('close', () => resolve(false))
  })
}

async function* readToEnd(git: ServiceProcess, before: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* before
  yield* git.output
  await git.ended
  if (git.failure !== undefined) throw git.failure
}

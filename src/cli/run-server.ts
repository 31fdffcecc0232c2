import { setTimeout as delay } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { FastifyBaseLogger } from 'fastify'
import { type ContextOptions, type OpenContext, openContext } from '../app/open-context.ts'
import { createAnswerer } from '../chat/create-answerer.ts'
import { ExtractPool } from '../chat/extract/extract-pool.ts'
import { consoleRoutes } from '../console/console.ts'
import { startNotices } from '../events/notices/start-notices.ts'
import { startWebhooks } from '../events/webhooks/start-webhooks.ts'
import { startForges } from '../forge/bridge/start-forges.ts'
import { nativeGit } from '../git/native/git-process.ts'
import { joinedPerTurn } from '../http/log.ts'
import { buildServer, type ServerOptions } from '../http/server.ts'
import type { Context } from '../kb/context.ts'
import { CircuitBreaker } from '../models/circuit-breaker.ts'
import { EmbeddingModel } from '../models/embeddings.ts'
import { withoutKey } from '../models/language-model.ts'
import { startEvicting } from '../operate/evict-copies.ts'
import { startMaintenance } from '../operate/kb-maintenance.ts'
import { startLinting } from '../operate/lint/run-lint-schedule.ts'
import { firstRun } from '../operate/setup/first-run.ts'
import { removeReceived, startSweeping } from '../operate/sweeping.ts'
import { startTracing } from '../operate/tracing.ts'
import { makeSetUpLink } from '../people/follow-links.ts'
import { ingestSteps, rereadSources } from '../sources/ingest/ingest-steps.ts'
import { startIngest } from '../sources/ingest/job-runner.ts'
import { DatabaseUnreachable } from '../state/database/database-errors.ts'
import { keepTemporaryFilesIn } from '../state/database/engines/sqlite.ts'
import { isUnreachable } from '../state/database/postgres-errors.ts'
import { DataDirectory } from '../state/directory/data-directory.ts'
import { acquireLock } from '../state/directory/directory-lock.ts'
import { requireRepositories } from '../state/directory/rows-place.ts'
import { giveMemoryBackWhenIdle } from '../system/idle-memory.ts'
import { Threads } from '../system/threads.ts'
import { announcement, rememberAddress } from './announcement.ts'
import type { CommandAnswer } from './command.ts'
import type { Environment } from './settings/environment.ts'

/** Milliseconds that a start waits for the previous process to release the lock, and that a shutdown may take. */
const LOCK_WAIT = 1_000
const SHUTDOWN = 30_000
/** Milliseconds between two attempts to reach the database at the start. */
const databasePause = 2_000
/** Signals whose default action ends the process with an exit code other than 0. */
const otherSignals: closeWithGrace.AllEvents[] = ['SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGTRAP', 'SIGABRT']
/** Maximum retries of a compile's request to the model, and the ratio of its timeout to that of chat. */
const [compileRetries, compilePatience] = [2, 2]

/** Starts everything and resolves once requests are served. A signal stops everything in reverse order. */
export async function runServer(environment: Environment): Promise<CommandAnswer> {
  // Programs that rotate logs send SIGHUP. Logs go to standard error, and settings are read only at the start.
  process.on('SIGHUP', () => {})
  const directory = DataDirectory.open(environment.dataDir)
  keepTemporaryFilesIn(directory.incoming)
  const release = await acquireLock(directory, { waitMs: LOCK_WAIT })
  const started: (() => unknown)[] = [release, giveMemoryBackWhenIdle()]
  const stop = async () => {
    for (const close of started.reverse()) await close()
  }
  try {
    const git = await nativeGit() // Determined once, at the start.
    const { dataDir, database, bucket, objects, host, port, publicUrl, identityProvider } = environment
    const languageModel = environment.languageModel && { ...environment.languageModel, breaker: new CircuitBreaker() }
    const onError = (error: unknown) => server.log.error(error)
    const { embeddings } = environment
    const failed = (message: string) => server.log.warn(message)
    const embeddingModel = embeddings && new EmbeddingModel(embeddings, { failed })
    const threads = new Threads()
    started.push(() => threads.close())
    const ctx = await openWhenReachable({
      ...{ dataDir, database, bucket, objects, publicUrl, embeddingModel, identityProvider, threads },
      watch: { onError },
      whenOlder: tell,
      answerer: createAnswerer(threads.of(ExtractPool), languageModel, failed),
      webhookPrivate: environment.webhookPrivate,
      sendsMail: environment.mail !== undefined,
    })
    started.push(() => ctx.close())
    started.push(startMaintenance(ctx, onError))
    if (objects !== undefined) started.push(startEvicting(ctx, environment.cacheBytes, onError))
    await removeReceived(ctx)
    let isReady = false
    let isLeaving = false
    const server = await buildServer(ctx, {
      ...serverOptions(environment),
      isReady: () => isReady,
      isLeaving: () => isLeaving,
    })
    started.push(await startTracing(process.env, failed))
    if (git === undefined) server.log.warn('No git is installed: all is served but clones and pushes.')
    started.push(() => server.close())
    started.push(await ctx.database.lead(() => startDuties(ctx, environment, { onError, failed })))
    const { ingestConcurrency: concurrency, transcriber } = environment
    const modelFailed = ({ message }: Error) => server.log.warn(withoutKey(languageModel, message))
    const compiler = languageModel && {
      ...languageModel,
      ...{ timeoutMs: compilePatience * languageModel.timeoutMs, maxRetries: compileRetries },
    }
    const models = { transcriber, languageModel: compiler, modelFailed }
    started.push(await startIngest(ctx, ingestSteps(ctx, models), { onError, concurrency }))
    // Listens before the first run: its tokens are shown once, and must not be lost because the port is in use.
    const address = await server.listen({ host, port })
    const made = await ctx.database.alone(() => firstRun(ctx))
    // Another server may have created the first knowledge base in the meantime.
    const missing =
      objects === undefined ? await requireRepositories({ directory, address: database }, ctx.knowledgeBases) : []
    for (const { id, slug } of missing) {
      server.log.error(`The repository of ${slug} is missing: ${directory.repository(id)}. Restore it from a backup.`)
    }
    isReady = true
    const grace = { delay: SHUTDOWN + environment.drain * 1_000, skip: otherSignals, logger: lastWords(server) }
    closeWithGrace(grace, async ({ signal, err }) => {
      isLeaving = true
      if (err !== undefined) server.log.fatal(err)
      if (signal !== undefined) await delay(environment.drain * 1_000)
      await stop()
      if (err === undefined) server.log.info(`The server has ended: ${signal}.`)
      else server.log.fatal(`The server has ended: ${err.message}`)
    })
    const url = publicUrl ?? address
    await rememberAddress(dataDir, url)
    const setUp = await makeSetUpLink(ctx)
    const told = {
      ...(made && { first: { ...made, kb: made.kb.slug } }),
      ...(setUp && { setUpUrl: new URL(ctx.urls.setUp(setUp), url).href }),
    }
    const { first, ...link } = told
    return { json: { url, ...first, ...link }, text: announcement(url, told) }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Returns the log for an end without an orderly shutdown: after a second signal or error, or a timeout. */
function lastWords({ log }: { log: FastifyBaseLogger }) {
  return { error: (reason: unknown) => log.fatal(reason instanceof Error ? reason : `The server has ended: ${reason}`) }
}

/** Prints a line before there is a server with a log. */
function tell(line: string): void {
  process.stderr.write(`${line}\n`)
}

/**
 * Opens the context, and waits for an unreachable database, as after a power cut of all machines. A wrong address or password is an error
 * at once.
 */
async function openWhenReachable(options: ContextOptions): Promise<OpenContext> {
  let told: string | undefined
  for (;;) {
    try {
      return await openContext(options)
    } catch (error) {
      if (!(error instanceof DatabaseUnreachable) || !isUnreachable(error.cause)) throw error
      if (error.message !== told) tell(`${error.message}. The start waits for it.`)
      told = error.message
      await delay(databasePause)
    }
  }
}

/** Starts the duties that one server performs for all servers with the same state. */
async function startDuties(
  ctx: Context,
  { webhookPrivate, transcriber, retention, mail }: Environment,
  { onError, failed }: { onError: (error: unknown) => void; failed: (message: string) => void },
): Promise<() => Promise<void>> {
  const send = mail && (await import('../events/notices/mail-server.ts')).mailServer(mail)
  const stops = [
    await startSweeping(ctx, retention, onError),
    rereadSources(ctx, { transcriber, onError }),
    startLinting(ctx, onError),
    startWebhooks(ctx, { onError, allowPrivate: webhookPrivate }),
    startForges(ctx, { env: process.env, onError }),
    ...(send === undefined ? [] : [startNotices(ctx, { send, failed })]),
  ]
  return async () => void (await Promise.all(stops.map((stop) => stop())))
}

/** Returns the options of the HTTP server. It logs to standard error, since the announcement is on standard output. */
function serverOptions({
  logLevel,
  publicUrl,
  metricsKey,
  trustedProxies,
  node,
  ...rates
}: Environment): ServerOptions {
  const { rateReads, rateWrites, rateChats } = rates
  return {
    ...{ publicUrl, metricsKey, trustedProxies, node, rateReads, rateWrites, rateChats },
    pages: consoleRoutes,
    log: { level: logLevel, stream: joinedPerTurn(process.stderr) },
  }
}

import { v7 as uuidv7 } from 'uuid'
import { onTestFinished } from 'vitest'
import type { OpenContext } from '../../../src/app/open-context.ts'
import type { LoggedEvent } from '../../../src/contract/events.ts'
import type { IngestSteps } from '../../../src/sources/ingest/ingest-source.ts'
import { startIngest } from '../../../src/sources/ingest/job-runner.ts'
import type { Source } from '../../../src/state/sources/source.ts'

/** A Source as an upload leaves it, with its job. */
export async function addSource(
  ctx: OpenContext,
  changes: Partial<Source> & { kbId: string },
  { replace = false } = {},
): Promise<Source> {
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const id = uuidv7()
  const source = {
    ...{
      id,
      tenantId,
      filename: 'note.md',
      path: '/',
      fileType: 'md',
      fileSize: 4,
      contentHash: id.replaceAll('-', '').repeat(2),
    },
    ...{
      status: 'ready' as const,
      errorMessage: null,
      tags: null,
      connector: 'upload',
      sourceUrl: null,
      metadata: null,
    },
    uploader: { id: 'key:app-key', name: 'The app' },
    ...changes,
  }
  const added = await ctx.sources.add(source, ctx.now(), {
    ...{ force: true, replace, isVisible: () => true },
  })
  await ctx.jobs.enqueue({ documentId: added.id, tenantId, kbId: added.kbId }, ctx.now())
  return added
}

/** Steps that succeed at once, where they are not given otherwise. */
export function steps(changes: Partial<IngestSteps> = {}): IngestSteps {
  return {
    extract: async () => ({ title: 'Note', markdown: 'Text.', anchors: [], warnings: [] }),
    compile: async () => ({ pages: [], warnings: [] }),
    commit: async () => ({ seqIds: ['handbook_00000001'], pending: 0, commit: undefined, warnings: [] }),
    ...changes,
  }
}

/** Ingests until the end of the test, or until it is stopped. */
export async function ingest(
  ctx: OpenContext,
  given: IngestSteps,
  options: { concurrency?: number; retryMs?: number; onError?: (error: unknown) => void } = {},
): Promise<() => Promise<void>> {
  const onError = (error: unknown) => {
    throw error
  }
  const stop = await startIngest(ctx, given, { onError, retryMs: 10, ...options })
  onTestFinished(stop)
  return stop
}

/** Returns the events of a Source in the log. */
export async function eventsOf(ctx: OpenContext, { tenantId, id }: Source) {
  const events = await ctx.events.after(tenantId, 0, 10_000)
  return events
    .filter(({ data }) => data.documentId === id)
    .map(({ kind, data: { documentId: _, ...data } }): Pick<LoggedEvent, 'kind'> & object => ({ kind, ...data }))
}

export async function statusOf(ctx: OpenContext, { id }: Source) {
  const { status, errorMessage, attempt } = (await ctx.sources.get(id)) ?? {}
  return { status, errorMessage, attempt }
}

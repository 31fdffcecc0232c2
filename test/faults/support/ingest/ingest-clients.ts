import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { IngestApi } from './ingest-api.ts'
import { kinds, newDocument } from './ingest-documents.ts'
import type { IngestLedger } from './ingest-ledger.ts'

/** Sources that wait for their ingest: more are not uploaded, so that a cycle gets somewhere. */
const maxWaiting = 8
/** Average pause of a client then, in milliseconds. */
const fullPauseMs = 300

export type ClientOptions = { isOver: () => boolean; waiting: () => number; pauseMs: number }

/** Uploads, also what is there already, lets be ingested again and archives, until told to stop. */
export async function runUploader(
  api: IngestApi,
  ledger: IngestLedger,
  { isOver, waiting, pauseMs }: ClientOptions,
): Promise<void> {
  while (!isOver()) {
    const hasRoom = waiting() < maxWaiting
    await oneAction(api, ledger, hasRoom)
    await delay(5 + 2 * Math.random() * (hasRoom ? pauseMs : fullPauseMs))
  }
}

async function oneAction(api: IngestApi, ledger: IngestLedger, hasRoom: boolean): Promise<void> {
  const dice = Math.random()
  if (dice < 0.7) return hasRoom ? uploadNew(api) : undefined
  const id = pick([...ledger.sources.keys()].filter((one) => isFree(ledger, one)))
  if (id === undefined) return
  if (dice < 0.82) return uploadAgain(api, ledger, id, hasRoom && Math.random() < 0.3)
  if (dice < 0.94) return api.ingest(id)
  return archive(api, ledger, id)
}

/** Nobody archives it. */
function isFree({ archived, cutArchivings }: IngestLedger, id: string): boolean {
  return !archived.has(id) && !cutArchivings.has(id)
}

async function uploadNew(api: IngestApi): Promise<void> {
  const kind = pick(kinds) ?? 'md'
  const noise = kind === 'html' && Math.random() < 0.7 ? 2 ** 20 : 0
  const idempotencyKey = Math.random() < 0.5 ? randomUUID() : undefined
  await api.upload({ document: newDocument(kind, noise), idempotencyKey, force: false })
}

/** The same bytes are refused, or with force another Source. */
async function uploadAgain(api: IngestApi, ledger: IngestLedger, id: string, force: boolean): Promise<void> {
  const document = ledger.sources.get(id)?.document
  if (document === undefined) return
  const before = new Set(ledger.sources.keys())
  const idempotencyKey = force ? randomUUID() : undefined
  const again = await api.upload({ document, idempotencyKey, force })
  if (again === undefined || !isFree(ledger, id)) return
  if (before.has(again) === force) {
    ledger.unexpected.push(`${id} was uploaded again ${force ? 'with' : 'without'} force as ${again}`)
  }
}

/** Archives a Source, whose bytes may then be uploaded again. */
async function archive(api: IngestApi, ledger: IngestLedger, id: string): Promise<void> {
  const document = ledger.sources.get(id)?.document
  const copies = [...ledger.sources].filter(([one, source]) => source.document === document && isFree(ledger, one))
  ledger.cutArchivings.add(id)
  const outcome = await api.archive(id)
  if (outcome === 'refused') ledger.cutArchivings.delete(id)
  if (outcome !== 'done' || document === undefined || copies.length > 1) return
  const anew = await api.upload({ document, idempotencyKey: randomUUID(), force: false })
  if (anew === id) ledger.unexpected.push(`${id} is archived, and yet it is what its bytes are a duplicate of`)
}

/** Asks for each answer that never came: with an idempotency key twice at once, as a client that waits for one does. */
export async function askAgain(api: IngestApi, ledger: IngestLedger): Promise<void> {
  const cut = ledger.cut
  ledger.cut = []
  for (const upload of cut) {
    const times = upload.idempotencyKey === undefined ? 1 : 2
    const ids = new Set(await Promise.all(Array.from({ length: times }, () => api.upload(upload))))
    const [id] = ids
    if (id === undefined || ids.size > 1) {
      ledger.unexpected.push(`one upload of ${upload.document.filename} made ${[...ids].join(' and ')}`)
    } else if (!ledger.sources.has(id)) ledger.tell(id, upload.document)
  }
  for (const id of ledger.cutArchivings) {
    if ((await api.archive(id)) === 'refused') ledger.cutArchivings.delete(id)
  }
}

function pick<T>(list: readonly T[]): T | undefined {
  return list[Math.floor(Math.random() * list.length)]
}

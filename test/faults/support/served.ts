import { z } from 'zod'
import { readBlobs } from './git.ts'
import type { Commit, File, History } from './history.ts'
import { type Ledger, pushedWords, wordsOf } from './ledger.ts'

type Pushed = { marker: string; commit: Commit; file: File }

const GitRecord = z.object({
  id: z.string(),
  connector: z.literal('git'),
  base: z.string().exactOptional(),
  createdBy: z.object({ id: z.string() }),
  metadata: z.string(),
})
const Metadata = z.object({ filename: z.string() })
const Origin = z.tuple([z.string(), z.string(), z.string(), z.string()])

/**
 * Returns the problems of pushes, acknowledged or not: none if each page is in one version of one Neuron, by one candidate that its pusher
 * approved, and each proposal is in the queue once.
 */
export async function wrongPushes(
  gitDir: string,
  { line, queue }: History,
  ledger: Ledger,
  pusherId: string,
): Promise<string[]> {
  const pushed = pushedPages(line)
  const found = new Map(pushed.map((page) => [page.marker, page]))
  const records = queue.flatMap(({ data, text }) => {
    const record = GitRecord.safeParse(data).data
    if (record === undefined) return []
    const [door, , topic] = Origin.parse(JSON.parse(Metadata.parse(JSON.parse(record.metadata)).filename))
    return [{ ...record, text, door, topic }]
  })
  const byId = new Map(records.map((record) => [record.id, record]))
  const problems = [...ledger.served].flatMap(([marker, commit]) => {
    const page = found.get(marker)
    if (page === undefined) return [`the push of ${marker} is lost`]
    return page.commit.parents[1] === undefined ? [`${marker} of ${commit} is on main as it was pushed`] : []
  })
  problems.push(...doubles(pushed.map(({ marker }) => marker)).map((marker) => `${marker} is on main twice`))
  for (const { marker, commit, file } of pushed) {
    const [seqId, candidate] = [String(file.data.seqId), String(file.data.candidate)]
    const record = byId.get(candidate)
    if (!commit.seqIds.includes(seqId) || !commit.candidates.includes(candidate))
      problems.push(`${commit.oid} is not the approval of ${marker}`)
    if (commit.approvedBy !== `key:${pusherId}`) problems.push(`${marker} was approved by ${commit.approvedBy}`)
    if (record?.createdBy.id !== `git:${pusherId}`) problems.push(`${marker} has no candidate of its pusher`)
    else if (!record.text.includes(pushedWords(marker))) problems.push(`the candidate of ${marker} says something else`)
  }
  const bases = await readBlobs(gitDir, new Set(records.flatMap(({ base }) => base ?? [])))
  const bringing = records.flatMap(({ text, base, createdBy }) =>
    createdBy.id === `git:${pusherId}` ? newMarkers(bases.get(base ?? '') ?? '', text) : [],
  )
  problems.push(...doubles(bringing).map((marker) => `${marker} has two candidates`))
  const topics = records.flatMap(({ door, topic }) => (door === 'for' ? [topic] : []))
  problems.push(...doubles(topics).map((topic) => `the proposal ${topic} is in the queue twice`))
  for (const id of ledger.proposals) {
    const [marker, record] = [ledger.candidates.get(id) ?? '', byId.get(id)]
    if (record?.createdBy.id !== `git:${pusherId}` || !record.text.includes(wordsOf(marker)))
      problems.push(`the proposal ${marker} is lost`)
  }
  return problems
}

/** The versions on main's first-parent line that say for the first time what was pushed. */
function pushedPages(line: readonly Commit[]): Pushed[] {
  const texts = new Map<string, string>()
  return line.flatMap((commit) =>
    commit.files.flatMap((file) => {
      const neuron = String(file.data.seqId ?? file.path)
      const before = texts.get(neuron) ?? ''
      texts.set(neuron, file.text)
      return newMarkers(before, file.text).map((marker) => ({ marker, commit, file }))
    }),
  )
}

function newMarkers(before: string, after: string): string[] {
  const [known, now] = [before, after].map((text) =>
    [...text.matchAll(/^Pushed as (\S+)\.$/gm)].map(([, id]) => id ?? ''),
  )
  return (now ?? []).filter((marker) => !known?.includes(marker))
}

function doubles<T>(list: readonly T[]): T[] {
  const seen = new Set<T>()
  return list.filter((item) => seen.size === seen.add(item).size)
}

import { ObjectStore } from '../../git/objects/object-store.ts'
import { tryParseCandidate } from '../../markdown/file/candidate-file.ts'
import { type CandidateEntry, candidateEntry } from '../../store/projection/candidate-index.ts'
import { tagsOfCandidate } from '../queue/candidate-tags.ts'
import { type PageForIndex, readPageForIndex } from './neuron-for-index.ts'

/** Files of a repository that are read for the projection. */
export type ReadTask = {
  gitDir: string
  pages: readonly { path: string; blob: string }[]
  /** Blobs of candidates' records. */
  records: readonly string[]
}

/** In the order of the task. Nothing for a file that is no Neuron, or a record that is none. */
export type ReadResult = { pages: (PageForIndex | undefined)[]; records: (CandidateEntry | undefined)[] }

/** Lets its files go when nothing is read for a while. */
let open: { gitDir: string; store: ObjectStore } | undefined

export default async function read({ gitDir, pages, records }: ReadTask): Promise<ReadResult> {
  if (open?.gitDir !== gitDir) {
    open?.store.close()
    open = { gitDir, store: new ObjectStore(gitDir) }
  }
  const { store } = open
  const textOf = async (blob: string) => {
    const object = await store.read(blob)
    if (object === undefined) throw new Error(`${blob} is not in the repository`)
    return object.data.toString('utf8')
  }
  const result: ReadResult = { pages: [], records: [] }
  for (const { path, blob } of pages) result.pages.push(readPageForIndex(path, await textOf(blob)))
  for (const blob of records) {
    const candidate = tryParseCandidate(await textOf(blob))
    result.records.push(candidate && candidateEntry(candidate, tagsOfCandidate(candidate)))
  }
  return result
}

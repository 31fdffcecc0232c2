import { type Commit, type File, fsck, type History, readWholeHistory } from './history.ts'
import { type Ledger, wordsOf } from './ledger.ts'

/** All that is wrong with a repository, given what the world was told: nothing, unless something was lost or doubled. */
export async function audit(gitDir: string, ledger: Ledger): Promise<string[]> {
  const history = await readWholeHistory(gitDir)
  const complaint = await fsck(gitDir)
  return [
    ...(complaint === '' ? [] : [complaint]),
    ...ledger.unexpected,
    ...lostCandidates(history, ledger),
    ...lostApprovals(history, ledger),
    ...lostDismissals(history, ledger),
    ...[...ledger.pushes].filter((oid) => !history.commits.has(oid)).map((oid) => `the push of ${oid} is lost`),
    ...lostImports(history, ledger),
    ...doubledApprovals(history),
    ...brokenSeqIds(history),
    ...strangers(history),
  ]
}

function lostCandidates({ queue }: History, ledger: Ledger): string[] {
  const byId = new Map(queue.map((record) => [String(record.data.id), record]))
  const problems: string[] = []
  for (const [id, marker] of ledger.candidates) {
    const record = byId.get(id)
    if (record === undefined) problems.push(`the candidate ${id} is lost`)
    else if (!record.text.includes(wordsOf(marker))) problems.push(`the candidate ${id} says something else`)
  }
  const submitted = queue.filter(({ data }) => data.connector !== 'git')
  const titles = submitted.map(({ data }) => String(data.title)).filter((title) => title.startsWith('Note '))
  return [...problems, ...doubles(titles).map((title) => `"${title}" was submitted once and is there twice`)]
}

function lostApprovals({ commits, files }: History, ledger: Ledger): string[] {
  const now = new Map(files.map((file) => [file.data.seqId, file]))
  const written = new Set([...commits.values()].flatMap((commit) => commit.files.map(({ blob }) => blob)))
  return [...ledger.approvals].flatMap(([id, { seqId, commit: oid, marker }]) => {
    const commit = commits.get(oid)
    if (commit === undefined) return [`the approval of ${id} is lost: ${oid}`]
    const file = commit.files.find(({ data }) => data.seqId === seqId)
    if (commit.candidates.join() !== id || commit.seqIds.join() !== seqId)
      return [`${oid} is not the approval of ${id}`]
    if (file?.data.candidate !== id) return [`${oid} has no back-pointer to ${id}`]
    // A correction whose target has moved is merged; its own words are in it all the same.
    if (!file.text.includes(wordsOf(marker))) return [`${oid} does not say what ${id} does`]
    const current = now.get(seqId)
    if (current === undefined) return [`the Neuron ${seqId} is gone`]
    return written.has(current.blob) ? [] : [`the Neuron ${seqId} holds what nobody wrote`]
  })
}

function lostDismissals({ queue, commits }: History, ledger: Ledger): string[] {
  const approved = new Set([...commits.values()].flatMap(({ candidates }) => candidates))
  const byId = new Map(queue.map((record) => [String(record.data.id), record]))
  return [...ledger.dismissals].flatMap((id) => {
    const decisions = byId.get(id)?.data.decisions
    const last: unknown = Array.isArray(decisions) ? decisions.at(-1) : undefined
    const isDismissed = JSON.stringify(last)?.includes('"dismiss"') ?? false
    if (approved.has(id)) return [`${id} was dismissed and is on main`]
    return isDismissed ? [] : [`the dismissal of ${id} is lost`]
  })
}

/** A note that was edited on both sides in ways that conflict waits in the queue. */
function lostImports({ files, commits, queue }: History, ledger: Ledger): string[] {
  const imported = files.filter(({ data }) => data.connector === 'import')
  const names = imported.map(({ path }) => path.slice('neurons/'.length))
  const ever = [...[...commits.values()].flatMap((commit) => commit.files), ...queue]
  const problems = [...ledger.imported].flatMap(([name, marker]) => {
    if (!names.includes(name)) return [`the imported note ${name} is lost`]
    return ever.some(({ text }) => text.includes(`Imported as ${marker}.`))
      ? []
      : [`what was imported as ${name} is lost`]
  })
  const twice = names.filter((name) => !/^note-\d+-[0-9a-f]{8}\.md$/.test(name))
  return [...problems, ...twice.map((name) => `a note was imported a second time, as ${name}`)]
}

/** One commit a candidate, except for an import, whose candidates share one commit a batch. */
function doubledApprovals({ commits }: History): string[] {
  const approved = [...commits.values()].flatMap(({ candidates }) => candidates)
  return doubles(approved).map((id) => `${id} was approved by more than one commit`)
}

/** Never two files at once, never for another document, and none left out. */
function brokenSeqIds({ files, commits }: History): string[] {
  const problems: string[] = []
  const everywhere = [{ files }, ...commits.values()]
  for (const { seqIds } of [{ seqIds: seqIdsOf(files) }, ...[...commits.values()].map(atOnce)]) {
    problems.push(...doubles(seqIds).map((seqId) => `${seqId} is held by two files`))
  }
  const documents = Map.groupBy(
    everywhere.flatMap((version) => version.files).filter(({ data }) => data.seqId !== undefined),
    ({ data }) => String(data.seqId),
  )
  for (const [seqId, versions] of documents) {
    const ids = new Set(versions.map(({ data }) => data.id))
    if (ids.size > 1) problems.push(`${seqId} was used again, for ${[...ids].join(' and ')}`)
  }
  const numbers = [...documents.keys()].map((seqId) => Number(seqId.split('_')[1]))
  if (Math.max(0, ...numbers) !== numbers.length) {
    problems.push(`${numbers.length} seqIds go up to ${Math.max(0, ...numbers)}`)
  }
  return problems
}

function atOnce({ files }: Commit): { seqIds: string[] } {
  return { seqIds: seqIdsOf(files) }
}

function seqIdsOf(files: readonly File[]): string[] {
  return files.flatMap(({ data }) => (data.seqId === undefined ? [] : [String(data.seqId)]))
}

/** Every Neuron on main has its candidate in the queue. */
function strangers({ files, queue }: History): string[] {
  const known = new Set(queue.map(({ data }) => data.id))
  return files
    .filter(({ data }) => data.candidate !== undefined && !known.has(data.candidate))
    .map(({ path }) => `${path} comes from no candidate of the queue`)
}

function doubles<T>(list: readonly T[]): T[] {
  const seen = new Set<T>()
  return list.filter((item) => seen.size === seen.add(item).size)
}

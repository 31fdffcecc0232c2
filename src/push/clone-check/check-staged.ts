import { type CheckoutFile, GitIndex, type StagedChange } from '../../git/checkout/index-files.ts'
import { findGitDir } from '../../git/checkout/work-tree.ts'
import { Repository } from '../../git/repository.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { ownTitle } from '../../markdown/neuron-title.ts'
import { checkContent, hasCheckedContent } from '../../rules/check/check-content.ts'
import { checkKb } from '../../rules/check/check-kb.ts'
import { checkPaths } from '../../rules/check/check-paths.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import type { Finding, NeuronFields } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { CheckError } from './check-error.ts'
import { parsePageFile, textFindings } from './parse-pushed-page.ts'
import { maxParsedBytes } from './read-checkout.ts'

/** A line that may give a seqId or a document id, as nearly every front matter writes it. */
const identityLine = `^["']?(seqId|id)["']?[[:space:]]*:`

/**
 * Checks what is staged, by the rules of {@link checkDirectory} but those about links. Only staged Neurons are parsed, and those
 * that hold a seqId or an id which a staged one takes.
 * @param indexFile the index to look at, where it is not the checkout's own.
 * @throws {CheckError} where there is no checkout, or no `kb.yaml`
 */
export async function checkStaged(
  dir: string,
  { indexFile }: { indexFile?: string | undefined } = {},
): Promise<{ findings: Finding[]; files: number }> {
  const gitDir = await findGitDir(dir)
  if (gitDir === undefined) throw new CheckError(`${dir} is no git checkout.`)
  const index = new GitIndex(gitDir, dir, indexFile)
  const repository = new Repository(gitDir)
  try {
    const [files, changes] = await Promise.all([index.files(), index.changes()])
    const kbFile = files.find(({ path, mode }) => path === 'kb.yaml' && mode.startsWith('100'))
    if (kbFile === undefined) throw new CheckError(`${dir} is not a knowledge base: no file kb.yaml is staged.`)
    const { settings, problems } = parseKbFile(await repository.readTextOnce(kbFile.oid))
    const staged = await readStaged(repository, changes)
    const before = await identitiesBefore(repository, changes)
    const holders = await holdersOf(takenIdentities(staged, before), index, repository, { files, changes })
    const previousSeqIds = new Map(
      [...before, ...identitiesOf(holders)].flatMap(([path, { seqId }]) =>
        seqId === undefined ? [] : [[path, seqId]],
      ),
    )
    const changed = new Set(changes.map(({ path }) => path))
    const findings = checkKb([...staged, ...holders], changed.has('kb.yaml') ? problems : [], {
      prefix: settings.prefix ?? '',
      previousSeqIds,
    }).filter(({ rule, path }) => !isAboutPaths(rule) && (changed.has(path) || rule.startsWith('duplicate-')))
    return {
      findings: [...newPathFindings(files, changes), ...findings].filter(
        ({ rule }) => settings.prefix !== null || rule !== 'seq-id-prefix',
      ),
      files: staged.length,
    }
  } finally {
    repository.close()
  }
}

type Identity = Pick<NeuronFields, 'seqId' | 'id'>

async function readStaged(repository: Repository, changes: readonly StagedChange[]): Promise<CheckedFile[]> {
  const files = changes.flatMap(({ after }) => after ?? [])
  const infos = await repository.infos(files.map(({ oid }) => oid))
  return Promise.all(
    files.map(async (file): Promise<CheckedFile> => {
      // A submodule's commit is not there.
      const { size = 0 } = infos.get(file.oid) ?? {}
      if (isNeuron(file)) {
        return size > maxParsedBytes ? { ...file, size } : { ...file, size, neuron: await readNeuron(repository, file) }
      }
      const { mode, path, oid } = file
      if (!mode.startsWith('100') || !hasCheckedContent({ path, size })) return { ...file, size }
      return { ...file, size, findings: checkContent(path, await repository.readTextOnce(oid)) }
    }),
  )
}

async function readNeuron(repository: Repository, { oid }: CheckoutFile): Promise<NonNullable<CheckedFile['neuron']>> {
  const { data } = await repository.read(oid)
  const text = data.toString('utf8')
  const { fields, content, contentLine, findings } = parsePageFile(text)
  const title = ownTitle(fields, content)
  // Whether an edge leads anywhere takes the names of all Neurons to say.
  return {
    fields: { ...fields, edges: [] },
    title,
    content,
    contentLine,
    findings: [...findings, ...textFindings(data, text)],
  }
}

/** What the staged paths held before. Of a blob that a partial clone lacks nothing is known, and older gits give up at it. */
async function identitiesBefore(
  repository: Repository,
  changes: readonly StagedChange[],
): Promise<Map<string, Identity>> {
  const neurons = changes.flatMap(({ before }) => (before !== undefined && isNeuron(before) ? [before] : []))
  const read = neurons.map(async ({ path, oid }): Promise<[string, Identity]> => {
    const object = await repository.find(oid).catch(() => undefined)
    return [path, object === undefined ? {} : parseNeuronFile(object.data.toString('utf8')).fields]
  })
  return new Map(await Promise.all(read))
}

function identitiesOf(files: readonly CheckedFile[]): [string, Identity][] {
  return files.flatMap(({ path, neuron }): [string, Identity][] =>
    neuron === undefined ? [] : [[path, neuron.fields]],
  )
}

/** The seqIds and ids that staged Neurons have and did not have where they are. */
function takenIdentities(staged: readonly CheckedFile[], before: ReadonlyMap<string, Identity>): Set<string> {
  const taken = new Set<string>()
  for (const [path, { seqId, id }] of identitiesOf(staged)) {
    const known = before.get(path)
    if (seqId !== undefined && seqId !== known?.seqId) taken.add(seqId)
    if (id !== undefined && id.toLowerCase() !== known?.id?.toLowerCase()) taken.add(id.toLowerCase())
  }
  return taken
}

/** The Neurons that are not staged and hold one of these seqIds and ids. */
async function holdersOf(
  taken: ReadonlySet<string>,
  index: GitIndex,
  repository: Repository,
  { files, changes }: { files: readonly CheckoutFile[]; changes: readonly StagedChange[] },
): Promise<CheckedFile[]> {
  if (taken.size === 0) return []
  const isTaken = (line: string) =>
    line.split(/[\s"':,#]+/).some((word) => taken.has(word) || taken.has(word.toLowerCase()))
  const lines = await index.lines(identityLine, 'neurons')
  const paths = new Set(lines.filter(({ line }) => isTaken(line)).map(({ path }) => path))
  for (const { path } of changes) paths.delete(path)
  const holders = files.filter((file) => paths.has(file.path) && isNeuron(file))
  return Promise.all(holders.map(async (file) => ({ ...file, size: 0, neuron: await readNeuron(repository, file) })))
}

function isNeuron({ path, mode }: CheckoutFile): boolean {
  return mode.startsWith('100') && isNeuronPath(path)
}

function isAboutPaths(rule: string): boolean {
  return rule === 'path' || rule === 'path-collision'
}

/** What is wrong with paths because of those that are new. */
function newPathFindings(files: readonly CheckoutFile[], changes: readonly StagedChange[]): Finding[] {
  const added = new Set(changes.filter(({ before }) => before === undefined).map(({ path }) => path))
  if (added.size === 0) return []
  const paths = files.map(({ path }) => path)
  const found = checkPaths(paths)
  if (found.every(({ path }) => added.has(path))) return found
  const known = new Set(
    checkPaths(paths.filter((path) => !added.has(path))).map(({ path, message }) => `${path}\0${message}`),
  )
  return found.filter(({ path, message }) => !known.has(`${path}\0${message}`))
}

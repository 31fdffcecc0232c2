import { changedInWorkTree, findCommit } from '../../git/checkout/work-tree.ts'
import type { Oid } from '../../git/objects/object.ts'
import { type ListedFile, listFiles, Repository } from '../../git/repository.ts'
import { changedIdentity } from '../../kb/kb-identity.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { ownTitle } from '../../markdown/neuron-title.ts'
import { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { checkKb } from '../../rules/check/check-kb.ts'
import { claimsAmong } from '../../rules/check/check-names.ts'
import type { CheckedFile, CheckedNeuron } from '../../rules/check/checked-file.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { parseSeqId } from '../../rules/neurons/seq-id.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { checkOtherFile, isReadByCheck, parsePageBytes, parsePushedPage } from './parse-pushed-page.ts'
import { type Checkout, maxParsedBytes, readCheckout } from './read-checkout.ts'

/** Thrown if a folder cannot be checked. */
export class CheckError extends Error {}

/**
 * Checks a checkout of a knowledge base, or a folder of its files, by the rules of the server. In a git checkout ignored files are left
 * out, and seqIds, and the id, slug and prefix in `kb.yaml`, must be those of the revision `base` (by default the last commit, if any).
 * With a `base`, new findings come first, then those of files that changed since.
 * @throws {CheckError} if there is no `kb.yaml` or no such revision
 */
export async function checkDirectory(
  dir: string,
  { base }: { base?: string | undefined },
): Promise<{ findings: Finding[]; files: number }> {
  const parser = new ParserPool()
  try {
    const checkout = await readCheckout(dir, parser)
    return { findings: await checkCheckout(dir, checkout, { base, parser }), files: checkout.files.length }
  } finally {
    await parser.close()
  }
}

async function checkCheckout(
  dir: string,
  { gitDir, files, settings: kbFile }: Checkout,
  { base, parser }: { base?: string | undefined; parser: ParserPool },
): Promise<Finding[]> {
  if (kbFile === undefined) throw new CheckError(`${dir} is not a knowledge base: it has no file kb.yaml.`)
  const { settings, problems: ofFile } = parseKbFile(kbFile)
  const { prefix } = settings
  const problems = [...ofFile, ...changedIdentity(await settingsOf(gitDir, base), settings)]
  const before = await neuronsOf(dir, gitDir, base, files)
  const rules = {
    prefix: prefix ?? '',
    inlineTags: settings.inlineTags,
    audiences: settings.defaultAudience,
    claimOf: claimsAmong(before),
  }
  const findings = checkKb(files, problems, {
    ...rules,
    previousSeqIds: new Map(before.map(({ path, seqId }) => [path, seqId])),
    previousNames: new Map(
      before.flatMap(({ seqId, neuron: { title } }) => (title === undefined ? [] : [[seqId, [title]]])),
    ),
  })
  // A missing prefix in kb.yaml is reported once, not for each page.
  const own = prefix === null ? findings.filter(({ rule }) => rule !== 'seq-id-prefix') : findings
  const told = [...own, ...unknownSeqIds(files, { prefix, before })]
  const commit = base === undefined || gitDir === undefined ? undefined : await findCommit(gitDir, base)
  if (gitDir === undefined || commit === undefined) return told
  using repository = new Repository(gitDir)
  const known = checkKb(await readCommit(repository, commit, files, parser), problems, rules)
  return changedFirst(told, known, new Set(await changedInWorkTree(gitDir, dir, commit)))
}

/**
 * Warns of seqIds that no page of the last commit has: the server rejects one that it never assigned. Only the server knows those of
 * deleted pages, so a checkout cannot prove that one is wrong.
 */
function unknownSeqIds(
  files: readonly CheckedFile[],
  { prefix, before }: { prefix: string | null; before: readonly { path: string; seqId: string }[] },
): Finding[] {
  if (before.length === 0) return []
  const given = new Set(before.map(({ seqId }) => seqId))
  // A page whose seqId changed is reported by another rule.
  const had = new Set(before.map(({ path }) => path))
  return files.flatMap(({ path, neuron }): Finding[] => {
    const { seqId } = neuron?.fields ?? {}
    if (seqId === undefined || given.has(seqId) || had.has(path) || parseSeqId(seqId)?.prefix !== prefix) return []
    const message = `The seqId ${seqId} is of no page here before: leave it out, and the server gives one. Keep it to bring a deleted page back.`
    return [{ rule: 'unknown-seq-id', severity: 'warning', path, line: 1, message }]
  })
}

/** Reads the files of a commit for the check; files that the checkout still has are not parsed again. */
async function readCommit(
  repository: Repository,
  commit: Oid,
  files: readonly CheckedFile[],
  parser: ParserPool,
): Promise<CheckedFile[]> {
  const known = new Map(
    files.flatMap(({ oid, neuron, links }) => (oid && neuron && links ? [[oid, { neuron, links }]] : [])),
  )
  const listed = await listFiles(repository, commit)
  const read = listed.map(async (file): Promise<CheckedFile> => {
    if (!file.mode.startsWith('100') || !isNeuronPath(file.path) || file.size > maxParsedBytes) return file
    const page = known.get(file.oid) ?? (await parsePushedPage(await repository.readTextOnce(file.oid), parser))
    return { ...file, ...page }
  })
  return Promise.all(read)
}

/** Rules that one change may break many times, the least important last. */
const manifold = ['broken-heading', 'ambiguous-link', 'broken-edge', 'broken-link', 'missing-title', 'link-case']

/**
 * Sorts findings: those that a revision did not have, then those of files that changed since; errors before warnings, and rare rules before
 * frequent ones. A forge shows only the first few, and a reviewer looks for what a change breaks.
 */
function changedFirst(
  findings: readonly Finding[],
  known: readonly Finding[],
  changed: ReadonlySet<string>,
): Finding[] {
  const keyOf = ({ rule, path, message }: Finding) => [rule, path, message].join('\0')
  const left = new Map<string, number>()
  for (const finding of known) left.set(keyOf(finding), (left.get(keyOf(finding)) ?? 0) + 1)
  const ranked = findings.map((finding) => {
    const count = left.get(keyOf(finding)) ?? 0
    left.set(keyOf(finding), count - 1)
    const age = (count > 0 ? 4 : 0) + (changed.has(finding.path) ? 0 : 2)
    return { finding, rank: age + (finding.severity === 'error' ? 0 : 1), worth: manifold.indexOf(finding.rule) }
  })
  return ranked.toSorted((a, b) => a.rank - b.rank || a.worth - b.worth).map(({ finding }) => finding)
}

/** Returns the previous settings of `kb.yaml`: the server accepts no other id, slug or prefix. */
async function settingsOf(gitDir: string | undefined, base: string | undefined): Promise<KbSettings> {
  const commit = gitDir === undefined ? undefined : await findCommit(gitDir, base ?? 'HEAD')
  if (gitDir === undefined || commit === undefined) return parseKbFile('').settings
  using repository = new Repository(gitDir)
  const blob = await repository.blobAt(commit, 'kb.yaml')
  return parseKbFile(blob === undefined ? '' : await repository.readTextOnce(blob)).settings
}

async function neuronsOf(
  dir: string,
  gitDir: string | undefined,
  base: string | undefined,
  files: readonly CheckedFile[],
): Promise<(CheckedFile & { seqId: string; neuron: CheckedNeuron })[]> {
  const commit = gitDir === undefined ? undefined : await findCommit(gitDir, base ?? 'HEAD')
  if (base !== undefined && commit === undefined) {
    throw new CheckError(gitDir === undefined ? `${dir} is no git checkout.` : `There is no commit ${base} in ${dir}.`)
  }
  if (gitDir === undefined || commit === undefined) return []
  const known = new Map(files.map(({ oid = '', neuron }) => [oid, neuron]))
  using repository = new Repository(gitDir)
  const neurons = (await listFiles(repository, commit)).filter(
    ({ path, mode }) => isNeuronPath(path) && mode.startsWith('100'),
  )
  const reading = neurons.map(async ({ path, oid }) => {
    const neuron = known.has(oid) ? known.get(oid) : namedIn(await repository.readTextOnce(oid))
    const { seqId } = neuron?.fields ?? {}
    return seqId === undefined || neuron === undefined ? [] : [{ path, size: 0, seqId, neuron }]
  })
  return (await Promise.all(reading)).flat()
}

function namedIn(text: string): CheckedNeuron {
  const { fields, content, contentLine } = parseNeuronFile(text)
  return { fields, title: ownTitle(fields, content), findings: [], content: '', contentLine }
}

/** Maximum files that are read at a time. */
const chunkFiles = 500

/** Returns all findings about a commit of a knowledge base, by the rules of `ganglion check`. @throws {GitError} */
export async function checkCommit(
  repository: Repository,
  commit: Oid,
  { prefix, parser }: { prefix: string; parser: ParserPool },
): Promise<Finding[]> {
  const listed = await listFiles(repository, commit)
  const checked: CheckedFile[] = []
  for (let start = 0; start < listed.length; start += chunkFiles) {
    const chunk = listed.slice(start, start + chunkFiles)
    checked.push(...(await Promise.all(chunk.map((file) => toChecked(repository, file, parser)))))
  }
  const settings = await repository.blobAt(commit, 'kb.yaml')
  const { problems, settings: read } = parseKbFile(
    settings === undefined ? '' : await repository.readTextOnce(settings),
  )
  return checkKb(checked, problems, {
    prefix,
    inlineTags: read.inlineTags,
    audiences: read.defaultAudience,
    claimOf: claimsAmong(checked),
  })
}

async function toChecked(repository: Repository, file: ListedFile, parser: ParserPool): Promise<CheckedFile> {
  if (!file.mode.startsWith('100')) return file
  if (!isNeuronPath(file.path)) {
    if (!isReadByCheck(file)) return file
    return { ...file, findings: checkOtherFile(file.path, await repository.readTextOnce(file.oid)) }
  }
  const { data } = await repository.read(file.oid)
  return { ...file, ...(await parsePageBytes(data, parser)) }
}

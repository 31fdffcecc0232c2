import { changedInWorkTree, findCommit } from '../../git/checkout/work-tree.ts'
import { listFiles } from '../../git/list-files.ts'
import { Repository } from '../../git/repository.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { ownTitle } from '../../markdown/neuron-title.ts'
import { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { checkKb } from '../../rules/check/check-kb.ts'
import { claimsAmong } from '../../rules/check/check-names.ts'
import type { CheckedFile, CheckedNeuron } from '../../rules/check/checked-file.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { CheckError } from './check-error.ts'
import { type Checkout, readCheckout } from './read-checkout.ts'

/**
 * Checks a checkout of a knowledge base, or a folder of its files, with the rules of the server's doors. In a git checkout
 * ignored files are left out, and seqIds must be those of the revision `base` (without one: of the last commit, if any). With a
 * `base`, findings of files that changed since come first.
 * @throws {CheckError} where there is no `kb.yaml` or no such revision
 */
export async function checkDirectory(
  dir: string,
  { base }: { base?: string | undefined },
): Promise<{ findings: Finding[]; files: number }> {
  const parser = new ParserPool()
  try {
    const checkout = await readCheckout(dir, parser)
    return { findings: await checkCheckout(dir, checkout, { base }), files: checkout.files.length }
  } finally {
    await parser.close()
  }
}

export async function checkCheckout(
  dir: string,
  { gitDir, files, settings: kbFile }: Checkout,
  { base }: { base?: string | undefined },
): Promise<Finding[]> {
  if (kbFile === undefined) throw new CheckError(`${dir} is not a knowledge base: it has no file kb.yaml.`)
  const { settings, problems } = parseKbFile(kbFile)
  const { prefix } = settings
  const before = await neuronsOf(dir, gitDir, base, files)
  const findings = checkKb(files, problems, {
    prefix: prefix ?? '',
    inlineTags: settings.inlineTags,
    previousSeqIds: new Map(before.map(({ path, seqId }) => [path, seqId])),
    previousNames: new Map(
      before.flatMap(({ seqId, neuron: { title } }) => (title === undefined ? [] : [[seqId, [title]]])),
    ),
    claimOf: claimsAmong(before),
  })
  // Where kb.yaml gives no prefix, that alone is what is wrong.
  const told = prefix === null ? findings.filter(({ rule }) => rule !== 'seq-id-prefix') : findings
  return base === undefined || gitDir === undefined ? told : changedFirst(told, dir, gitDir, base)
}

/** Rules that a change may break many times: the last come last. */
const manifold = ['broken-heading', 'ambiguous-link', 'broken-edge', 'broken-link', 'missing-title']

/**
 * Findings of files that changed since a revision come first, errors before warnings, and what is rare before what is not: a forge
 * shows only the first few, and what was wrong before is not what a change is looked at for.
 */
async function changedFirst(
  findings: readonly Finding[],
  dir: string,
  gitDir: string,
  base: string,
): Promise<Finding[]> {
  const commit = await findCommit(gitDir, base)
  const changed = new Set(commit === undefined ? [] : await changedInWorkTree(gitDir, dir, commit))
  const rank = ({ path, severity }: Finding) => (changed.has(path) ? 0 : 2) + (severity === 'error' ? 0 : 1)
  const worth = ({ rule }: Finding) => manifold.indexOf(rule)
  return findings.toSorted((a, b) => rank(a) - rank(b) || worth(a) - worth(b))
}

/** The Neurons of a revision. What is still the same in the checkout is not read again. */
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
  const repository = new Repository(gitDir)
  try {
    const neurons = (await listFiles(repository, commit)).filter(
      ({ path, mode }) => isNeuronPath(path) && mode.startsWith('100'),
    )
    const reading = neurons.map(async ({ path, oid }) => {
      const neuron = known.has(oid) ? known.get(oid) : namedIn(await repository.readTextOnce(oid))
      const { seqId } = neuron?.fields ?? {}
      return seqId === undefined || neuron === undefined ? [] : [{ path, size: 0, seqId, neuron }]
    })
    return (await Promise.all(reading)).flat()
  } finally {
    repository.close()
  }
}

function namedIn(text: string): CheckedNeuron {
  const { fields, content, contentLine } = parseNeuronFile(text)
  return { fields, title: ownTitle(fields, content), findings: [], content: '', contentLine }
}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findCommit } from '../../git/checkout/work-tree.ts'
import { hashObject } from '../../git/objects/object.ts'
import { Repository } from '../../git/repository.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import { ParserPool } from '../../markdown/pool/parser-pool.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { checkCheckout, readCommit } from './check-directory.ts'
import { CheckError } from './check-error.ts'
import { brokenByChange, type CheckedChange, compareNeurons } from './checked-change.ts'
import { type ClaimedVerdict, claimsBetween, judgeClaim } from './claimed-verdicts.ts'
import { readCheckout } from './read-checkout.ts'

/** A changed Neuron with its text on both sides, and what the policy says of it. */
export type ReviewedNeuron = CheckedChange & ClaimedVerdict & { textBefore: string; textAfter: string }

export type DirectoryReview = {
  neurons: ReviewedNeuron[]
  /** Links of other Neurons that the change breaks. */
  broken: Finding[]
  /** Paths of files that are no Neurons and are new, changed or gone. */
  otherFiles: string[]
}

/**
 * Checks a checkout as `checkDirectory` does, and describes what it changes since a revision. Whether the policy would approve that
 * is asked of the `kb.yaml` of the revision: a change does not judge itself.
 * @throws {CheckError} where there is no `kb.yaml`, no git checkout or no such revision
 */
export async function reviewDirectory(
  dir: string,
  { base = 'HEAD' }: { base?: string | undefined },
): Promise<{ findings: Finding[]; files: number; review: DirectoryReview }> {
  const parser = new ParserPool()
  try {
    const checkout = await readCheckout(dir, parser)
    const findings = await checkCheckout(dir, checkout, { base, parser })
    const { gitDir, files } = checkout
    const [from, to] =
      gitDir === undefined ? [] : await Promise.all([base, 'HEAD'].map((name) => findCommit(gitDir, name)))
    if (gitDir === undefined || from === undefined || to === undefined)
      throw new CheckError(`${dir} has no commit yet.`)
    const repository = new Repository(gitDir)
    try {
      const before = await readCommit(repository, from, files, parser)
      const changes = compareNeurons(before, files)
      const settings = await repository.blobAt(from, 'kb.yaml')
      const policy = parseKbFile(settings === undefined ? '' : await repository.readTextOnce(settings)).settings
      const claims = await claimsBetween(repository, from, to)
      const neurons = changes.map(async (change): Promise<ReviewedNeuron> => {
        const { before: old, after } = change
        const textBefore = old?.oid === undefined ? '' : await repository.readTextOnce(old.oid)
        const textAfter = after === undefined ? '' : await readFile(join(dir, after.path), 'utf8')
        const claim = claims.get(after?.path ?? old?.path ?? '')
        return { ...change, ...judgeClaim(claim, policy), textBefore, textAfter }
      })
      const broken = brokenByChange(before, files, changes)
      const review = {
        neurons: await Promise.all(neurons),
        broken,
        otherFiles: await changedOthers(dir, before, files),
      }
      return { findings, files: files.length, review }
    } finally {
      repository.close()
    }
  } finally {
    await parser.close()
  }
}

async function changedOthers(
  dir: string,
  before: readonly CheckedFile[],
  after: readonly CheckedFile[],
): Promise<string[]> {
  const gone = new Map(before.filter(isOther).map((file) => [file.path, file]))
  const changed: string[] = []
  for (const file of after.filter(isOther)) {
    const old = gone.get(file.path)
    gone.delete(file.path)
    if (old === undefined || !(await isSame(dir, old, file))) changed.push(file.path)
  }
  return [...changed, ...gone.keys()].sort()
}

function isOther({ neuron }: CheckedFile): boolean {
  return neuron === undefined
}

async function isSame(dir: string, old: CheckedFile, { path, mode, size }: CheckedFile): Promise<boolean> {
  if (old.mode !== mode || old.size !== size) return false
  return !mode?.startsWith('100') || old.oid === hashObject('blob', await readFile(join(dir, path)))
}

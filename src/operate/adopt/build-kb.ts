import { rename, rm } from 'node:fs/promises'
import { parseDocument } from 'yaml'
import { operatorsGit } from '../../git/native/operators-git.ts'
import { Repository } from '../../git/repository.ts'
import type { Context } from '../../kb/context.ts'
import { createKnowledgeBase, operator } from '../../kb/create-kb.ts'
import { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { countRows } from '../../kb/projection/neuron-queries.ts'
import { mainRef } from '../../kb/refs/kb-refs.ts'
import { commitToMain } from '../../kb/writing/commits.ts'
import { nextNumber, raiseSeqFloor } from '../../kb/writing/record.ts'
import { parseKbFile } from '../../markdown/file/kb-file.ts'
import { formatFindings } from '../../push/push-report.ts'
import { floorAbove } from '../backup/restored-folder.ts'
import { firstOf } from '../verify/verification.ts'
import { verify } from '../verify/verify.ts'
import { AdoptionRefused, adoptedRef } from './fetch-source.ts'
import { mergeHistory } from './merge-history.ts'

const maxProblems = 50

export type Building = {
  /** Fetched bare repository, which is moved to its final place. */
  fetched: string
  /** Address of the source, without credentials. */
  source: string
  isMirror: boolean
  tenant: string
  /** Requested slug; undefined: the mirror's own. */
  slug: string | undefined
}

type Named = { id: string; slug: string; prefix: string }

/**
 * Builds a sound knowledge base from a fetched repository, in a context that nothing else uses.
 * @throws {AdoptionRefused} with the problem
 */
export async function buildKb(scratch: Context, building: Building): Promise<Named & { neurons: number }> {
  const { source, isMirror } = building
  const { directory, parser, now } = scratch
  const named = await (isMirror ? placeMirror : placeHistory)(scratch, building)
  const identity = { ...named, tenantId: '' }
  const [gitDir, indexDir] = [directory.repository(identity.id), directory.index(identity.id)]
  const kb = new KnowledgeBase(identity, { gitDir, indexDir, parser })
  let neurons: number
  try {
    await kb.sync()
    if (isMirror) await continueMirror(kb, now())
    else {
      const tip = (await kb.repository.readRef(adoptedRef)) ?? ''
      refuse(source, formatFindings(await mergeHistory(kb, { tip, source }, scratch)))
      await operatorsGit(gitDir, ['update-ref', '-d', adoptedRef])
    }
    neurons = countRows(kb.projection.read).neurons
  } finally {
    await kb.close()
  }
  const { kbs } = await verify(scratch, [identity])
  const problems = kbs.flatMap(({ problems }) => problems.map(({ kind, message }) => `${kind}: ${message}`))
  refuse(source, firstOf(problems, maxProblems))
  return { ...named, neurons }
}

function refuse(source: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  throw new AdoptionRefused(
    `${source} cannot be adopted as it is. Correct it there, and adopt it again:\n${problems.join('\n')}`,
  )
}

/** Moves a mirror to the place of its id. */
async function placeMirror({ directory }: Context, building: Building): Promise<Named> {
  const { fetched, source } = building
  const repository = new Repository(fetched)
  const text = await readSettings(repository).finally(() => repository.close())
  const { id, prefix, slug: own } = parseKbFile(text).settings
  const slug = building.slug ?? own
  if (id === null || slug === null || prefix === null)
    throw new AdoptionRefused(`${source} has a queue, but its kb.yaml gives no id, slug and prefix: put them back.`)
  await rename(fetched, directory.repository(id))
  return { id, slug, prefix }
}

/** Skips the seqIds that the original may have assigned since, and gives the mirror its name here. */
async function continueMirror(kb: KnowledgeBase, at: Date): Promise<void> {
  const { id, slug } = kb.identity
  const document = parseDocument(await readSettings(kb.repository))
  const isRenamed = document.get('slug') !== slug
  document.set('slug', slug)
  const files = new Map([['kb.yaml', document.toString({ lineWidth: 0 })]])
  await kb.write(async (staging) => {
    await raiseSeqFloor(kb, staging, { floor: floorAbove(nextNumber(kb) - 1), actor: operator, at })
    const [subject, trailers] = [`Name the knowledge base ${slug}`, [['Knowledge-Base', id] as const]]
    if (isRenamed) await commitToMain(kb, staging, { files, subject, trailers, decided: { operator }, at })
  })
}

/** Creates a knowledge base in a fetched repository. */
async function placeHistory(scratch: Context, building: Building): Promise<Named> {
  const { fetched, tenant, slug = '' } = building
  const { id, prefix, gitDir } = await createKnowledgeBase(scratch, { tenant, slug })
  await operatorsGit(fetched, ['fetch', '--quiet', '--no-write-fetch-head', '--', gitDir, `${mainRef}:${mainRef}`])
  await rm(gitDir, { recursive: true })
  await rename(fetched, gitDir)
  return { id, slug, prefix }
}

/** Returns the `kb.yaml` on main. */
async function readSettings(repository: Repository): Promise<string> {
  const main = await repository.readRef(mainRef)
  const blob = main && (await repository.blobAt(main, 'kb.yaml'))
  return blob === undefined ? '' : repository.readTextOnce(blob)
}

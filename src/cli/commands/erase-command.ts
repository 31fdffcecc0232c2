import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { recordAct } from '../../kb/access/audit.ts'
import {
  type ErasureStep,
  findTexts,
  finishErasure,
  prepareErasure,
  type TextPlaces,
  textPlaces,
} from '../../operate/erase/erase.ts'
import { type ErasurePlan, planErasure } from '../../operate/erase/plan-erasure.ts'
import { verify } from '../../operate/verify/verify.ts'
import { operatorOf } from '../../people/manage-people.ts'
import { counted } from '../../rules/text/numbers.ts'
import { DataDirectory } from '../../state/directory/data-directory.ts'
import { acquireWhole } from '../../state/directory/directory-lock.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import { UsageError } from '../cli-errors.ts'
import { act } from '../command.ts'
import { flag, repeatable } from '../options.ts'
import { Selection, select } from '../select-options.ts'
import type { Environment } from '../settings/environment.ts'
import { requireDataDirectory, withContext } from '../with-ganglion.ts'

const list = z.array(z.string().min(1)).optional()
const erased = {
  ...Selection.shape,
  neuron: repeatable(list, '<seqId>', 'a page, in all its versions, with its candidates'),
  text: repeatable(list, '<string>', 'a text, wherever it stands, in one line'),
  source: repeatable(list, '<uuid>', 'a Source, in all its editions, with the pages made of it'),
  person: repeatable(list, '<email>', "a person's name and address, wherever they stand"),
  onBehalfOf: repeatable(list, '<id>', 'an end user on whose behalf candidates were sent, wherever they are named'),
  by: repeatable(list, '<email>', 'an administrator who decided it, for the audit'),
  dryRun: flag('only report what would be removed'),
}
const resume = flag('finish an erasure that was cut off', ...Object.keys(erased))

const told: Readonly<Record<ErasureStep, string>> = {
  written: 'The new history is written, beside the old one.',
  decided: 'It is decided: from here on, "ganglion erase --resume" finishes what is cut off.',
  switched: 'The new history is in place.',
  removed: 'The old one is removed, with the indexes, clones and bytes.',
  rewritten: 'The database is rewritten.',
}

export function addEraseCommand(program: Command): void {
  act(
    program
      .command('erase')
      .description('remove data from a knowledge base and from its whole history; there is no way back')
      .addHelpText(
        'after',
        '\nStop the server first; in a cluster, every node.\n\nExample:\n  ganglion erase --kb handbook --neuron handbook_00000042',
      ),
    z.object({ ...erased, resume }),
    async ({ neuron = [], text = [], source = [], person = [], onBehalfOf = [], by = [], ...options }, settings) => {
      const { dryRun, resume, ...selection } = options
      const { dataDir } = settings
      requireDataDirectory(settings)
      const environment = { ...settings, isAlone: true }
      const directory = DataDirectory.open(dataDir)
      using _lock = await acquireWhole(directory)
      const finish = () => withContext({ ...environment, finishes: 'erasure' }, (ctx) => finishErasure(ctx, say))
      const wasCutOff = await finish()
      if (resume)
        return { json: { wasCutOff }, text: wasCutOff ? 'The erasure is finished.' : 'There is none to finish.' }
      const things = { neurons: neuron, texts: text, sources: source, people: person, endUsers: onBehalfOf }
      const request = { ...things, decidedBy: by }
      if (Object.values(things).every(({ length }) => length === 0))
        throw new UsageError('one of --neuron, --text, --source, --person and --on-behalf-of is needed')
      const { kbs, plan, places } = await withContext(environment, async (ctx) => {
        const kbs = await select(ctx, selection)
        const [kb, other] = kbs
        if (kb === undefined || other !== undefined) throw new UsageError('--kb must name one knowledge base')
        if (!dryRun) return { kbs, plan: await prepareErasure(ctx, kb, request, say), places: undefined }
        return inUse(async () => {
          const opened = await ctx.kbs.open(kb)
          const plan = await planErasure(ctx, opened, request)
          return { kbs, plan, places: await findTexts(ctx, opened, plan) }
        })
      })
      if (places !== undefined) {
        const text = [textOf(plan, 'would go'), ...places.map(placesText), ...linked(plan)]
        return { json: { ...summary(plan), places }, text: text.join('\n') }
      }
      await finish()
      return await withContext(environment, async (ctx) => {
        const { kbs: verified } = await verify(ctx, kbs)
        const problems = verified.flatMap((kb) => kb.problems.map(({ message }) => message))
        for (const { tenantId, slug } of kbs) {
          const { actor } = operatorOf(tenantId).by
          await recordAct(
            ctx,
            { ...actor, tenantId },
            {
              action: 'kb.erased',
              subject: slug,
              detail: [textOf(plan, 'went'), ...by.map((email) => `decided by ${email}`)].join('; '),
            },
          )
        }
        const copies = await copiesOf(directory)
        const text = [
          textOf(plan, 'went'),
          ...problems,
          ...elsewhere(environment),
          ...linked(plan),
          ...copies.map((path) => `  perhaps also: ${path}`),
        ]
        return {
          json: { ...summary(plan), problems, copies },
          text: text.join('\n'),
          isNegative: problems.length > 0,
        }
      })
    },
  )
}

function say(step: ErasureStep): void {
  process.stderr.write(`${told[step]}\n`)
}

/** Returns notes on copies that no command can erase. */
function elsewhere({ database, bucket, objects }: Pick<Environment, 'database' | 'bucket' | 'objects'>): string[] {
  return [
    'Clones, mirrors and backups that were made before still hold it. Have clones deleted and made again: a push of their old commits is refused.',
    ...(database ? ['So do the log of PostgreSQL (pg_wal), archives of it, its replicas and its backups.'] : []),
    ...((objects ?? bucket) ? ['So do former versions of objects, if the bucket keeps them.'] : []),
    ...(objects ? ['A node drops its copies when it starts: remove the data of nodes that never start again.'] : []),
  ]
}

function linked({ forge }: ErasurePlan): string[] {
  if (forge === null) return []
  return [
    `The link to ${forge} goes, too, so that nothing comes back from there. The repository there holds it on: in main, in branches, in pull requests, their texts and comments, and in forks. Delete it there, and link an empty one: what waits gets new pull requests.`,
  ]
}

function summary({ seqIds, candidates, texts, sources, people, endUsers, forge }: ErasurePlan) {
  return {
    neurons: seqIds,
    candidates: candidates.length,
    texts: texts.length,
    sources: sources.map(({ id }) => id),
    people,
    endUsers: endUsers.length,
    forge,
  }
}

/** Summarizes an erasure without the erased texts, because the audit keeps the summary. */
function textOf({ seqIds, candidates, texts, sources, people, endUsers }: ErasurePlan, verb: string): string {
  const counts = {
    Neuron: seqIds,
    candidate: candidates,
    text: texts,
    Source: sources,
    account: people,
    'end user': endUsers,
  }
  const parts = Object.entries(counts).flatMap(([noun, { length }]) => (length > 0 ? [counted(length, noun)] : []))
  return `${parts.join(', ')} ${verb}: ${seqIds.join(', ')}`.replace(/: $/, '')
}

/** Returns the number of occurrences of a text by place, with which a person can check that it is the right text. */
function placesText(places: TextPlaces): string {
  const parts = textPlaces.flatMap((name) =>
    places[name] > 0 ? [`${places[name]} ${places[name] === 1 ? name.slice(0, -1) : name}`] : [],
  )
  return `  ${places.text}: ${parts.length === 0 ? 'found nowhere' : `in ${parts.join(', ')}`}`
}

/**
 * Returns copies in the data directory that an erasure does not touch: exports of deleted tenants and knowledge bases, and databases from
 * before an upgrade.
 */
async function copiesOf({ root, database }: DataDirectory): Promise<string[]> {
  const exports = join(root, 'exports')
  const names = existsSync(exports) ? await readdir(exports) : []
  const databases = (await readdir(dirname(database))).filter((name) => name.startsWith(`${basename(database)}.`))
  return [...names.map((name) => join(exports, name)), ...databases.map((name) => join(dirname(database), name))]
}

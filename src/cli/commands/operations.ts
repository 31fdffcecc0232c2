import type { Command } from 'commander'
import { z } from 'zod'
import { nativeGit } from '../../git/native/git-process.ts'
import { backup } from '../../operate/backup/backup.ts'
import { findDamage, readManifest } from '../../operate/backup/backup-manifest.ts'
import { restore } from '../../operate/backup/restore.ts'
import { packageVersion } from '../../operate/package-version.ts'
import { rebuild } from '../../operate/rebuild.ts'
import type { KbVerification, VerifyProblem } from '../../operate/verify/verification.ts'
import { verify } from '../../operate/verify/verify.ts'
import { counted } from '../../rules/text/numbers.ts'
import { DataDirectory } from '../../state/directory/data-directory.ts'
import { acquireLock } from '../../state/directory/directory-lock.ts'
import { actOn } from '../act-on.ts'
import { act } from '../command.ts'
import { argument, flag } from '../options.ts'
import { Selection, select } from '../select-options.ts'
import { table } from '../table.ts'
import { requireDataDirectory, withContext } from '../with-ganglion.ts'

const noGit = 'No git is installed: objects are looked at for presence and content, not for all that git would find.'

export function addOperationCommands(program: Command): void {
  actOn(
    program
      .command('verify')
      .description(
        'check repositories, queue, indexes and the bytes of Sources; the exit code is 1 if something is wrong',
      )
      .addHelpText('after', '\nSafe to run next to a running server. It changes nothing.'),
    Selection,
    async (selection, ctx) => {
      const isAll = selection.tenant === undefined && selection.kb === undefined
      const verified = await verify(ctx, isAll ? undefined : await select(ctx, selection))
      const git = (await nativeGit()) ?? null
      const told = [
        ...(git === null ? [noGit] : []),
        ...verified.problems.map(describeProblem),
        ...verified.kbs.map(describe),
      ]
      return {
        json: { ...verified, git },
        text: told.join('\n') || 'There are no knowledge bases.',
        isNegative: !verified.ok,
      }
    },
  )

  act(
    program
      .command('rebuild')
      .description('drop the indexes and build them again from git')
      .addHelpText('after', '\nStop the server first.'),
    Selection,
    async (selection, environment) => {
      requireDataDirectory(environment)
      using _lock = await acquireLock(DataDirectory.open(environment.dataDir), { waitMs: 0 })
      return await withContext(environment, async (ctx) => {
        const kbs = await rebuild(ctx, await select(ctx, selection))
        const rows = kbs.map(({ id, slug, neurons, candidates }) => [id, slug, String(neurons), String(candidates)])
        return { json: { kbs }, text: table(['ID', 'SLUG', 'NEURONS', 'CANDIDATES'], rows) }
      })
    },
  )

  act(
    program
      .command('migrate')
      .description('bring the database of an older version up to date, and keep a copy of it')
      .addHelpText('after', '\nStop the server first. It does the same when it starts.'),
    z.object({}),
    async (_, environment) => {
      requireDataDirectory(environment)
      using _lock = await acquireLock(DataDirectory.open(environment.dataDir), { waitMs: 0 })
      const steps: string[] = []
      await withContext(
        environment,
        async () => {},
        (line) => steps.push(line),
      )
      return { json: { steps }, text: steps.join('\n') || 'The database is up to date.' }
    },
  )

  act(
    program
      .command('backup')
      .description('copy everything into a folder')
      .addHelpText('after', '\nSafe to run next to a running server.'),
    z.object({
      dir: argument(z.string().min(1), 'new or empty folder'),
      check: flag('compare every file of the backup in <dir> with its checksum; make no backup'),
    }),
    async ({ dir: target, check }, environment) => {
      if (check) return checkBackup(target)
      return withContext(environment, async (ctx) => {
        const { dir, manifest } = await backup(ctx, target, { version: packageVersion })
        const lost = manifest.missingBlobs?.map((sha256) => `  the bytes ${sha256} are gone: run "ganglion verify"`)
        return {
          json: { dir, ...manifest },
          text: [`Backed up ${counted(manifest.kbs.length, 'knowledge base')} to ${dir}`, ...(lost ?? [])].join('\n'),
        }
      })
    },
  )

  act(
    program
      .command('restore')
      .description('restore a backup into a data directory, and into the database and the bucket of the settings')
      .addHelpText(
        'after',
        '\nThe data directory, GANGLION_DATABASE, and the prefixes of GANGLION_OBJECTS and GANGLION_BLOBS must be empty or new.' +
          '\nStop the servers that use them first. A restore that is cut off can be run again.',
      ),
    z.object({
      dir: argument(z.string().min(1), 'the backup'),
      move: flag('keep sessions, one-time links and the next seqIds; only if nothing was written since the backup'),
      allowMissing: flag('restore a backup that lacks bytes of Sources, and list what is missing'),
    }),
    async ({ dir, move: isMove, allowMissing }, { dataDir, database, bucket, objects }) => {
      const restored = await restore(dir, { dataDir, database, bucket, objects }, { isMove, allowMissing })
      const places = [...(objects ? [] : [restored.dataDir]), ...(database ? ['the database'] : [])]
      if (bucket ?? objects) places.push('the bucket')
      const lines = restored.kbs.map(
        ({ slug, id, seqFloor, warnings }) =>
          `  ${slug} (${id}): new seqIds begin at ${seqFloor + 1}${warnings.map((line) => `\n    ${line}`).join('')}`,
      )
      const told = `Restored ${counted(restored.kbs.length, 'knowledge base')} to ${places.join(' and ')}`
      return { json: restored, text: [told, ...lines].join('\n') }
    },
  )
}

async function checkBackup(dir: string) {
  const manifest = await readManifest(dir)
  if (manifest.files === undefined) {
    throw new Error(
      `${dir} was made by version 0.1.0, without checksums: it can be restored, but not checked. Make a new one.`,
    )
  }
  const damage = await findDamage(dir, manifest, { sources: true })
  const count = counted(Object.keys(manifest.files).length, 'file')
  const text = damage.length === 0 ? [`${count}: all as they were written`] : damage
  return { json: { dir, createdAt: manifest.createdAt, damage }, text: text.join('\n'), isNegative: damage.length > 0 }
}

function describe({ id, slug, problems, notes }: KbVerification): string {
  return [
    `${slug ?? 'unregistered'} (${id}): ${problems.length === 0 ? 'fine' : counted(problems.length, 'problem')}`,
    ...problems.map((problem) => `  ${describeProblem(problem)}`),
    ...notes.map((note) => `  note: ${note}`),
  ].join('\n')
}

function describeProblem({ kind, message }: VerifyProblem): string {
  return `${kind}: ${message}`
}

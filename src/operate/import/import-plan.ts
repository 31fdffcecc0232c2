import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { portablePath } from '../../rules/paths/portable-path.ts'
import { PathClaims } from './path-claims.ts'

/**
 * A file of the folder: `origin` is its path there, `source` that path behind the name of where the folder came from, and
 * `path` the one that it gets in the knowledge base.
 */
export type PlannedFile = {
  origin: string
  source: string
  absolute: string
  path: string
  size: number
  /** The `source` under which a note was imported before it was renamed in the folder. */
  formerSource?: string
}
export type Skipped = { path: string; reason: string }
export type ImportPlan = {
  notes: PlannedFile[]
  attachments: PlannedFile[]
  skipped: Skipped[]
  /** The path of what shows that the folder is the vault of a tool, by the tool. */
  vaults: { obsidian?: string; dendron?: string }
}

type FoundFile = { origin: string; problem?: string }

/** A page may be 1 MB with the front matter that it gets here. */
export const maxNoteBytes = (1024 - 16) * 1024
/** Pictures in its text become files. */
const maxNoteFileBytes = 32 * 1024 * 1024
const maxAttachmentBytes = 2 * 1024 * 1024
const noteName = /\.(?:md|markdown)$/i

/**
 * What of a folder becomes what in a knowledge base that has these files. Names stay where every file system can hold them;
 * the others are mended, and where two would collide the later in alphabetical order gets a number.
 */
export async function planImport(dir: string, sourceName: string, known: Iterable<string>): Promise<ImportPlan> {
  const files = await listFiles(dir, '')
  const plan: ImportPlan = { notes: [], attachments: [], skipped: [], vaults: vaultsAmong(files) }
  const claims = new PathClaims(known)
  for (const { origin, problem } of files) {
    const absolute = join(dir, origin)
    const size = problem === undefined ? (await stat(absolute)).size : 0
    const portable = portablePath(`neurons/${origin}`)
    const isNote = noteName.test(portable)
    const limit = isNote ? maxNoteFileBytes : maxAttachmentBytes
    const reason = problem ?? (size > limit ? `is larger than ${limit / 1024} KB` : undefined)
    if (reason !== undefined) {
      plan.skipped.push({ path: origin, reason })
      continue
    }
    const path = claims.claim(pagePath(portable))
    plan[isNote ? 'notes' : 'attachments'].push({ origin, source: `${sourceName}/${origin}`, absolute, path, size })
  }
  return plan
}

/** A folder with the settings of both tools may have schemas of any other tool, and is Dendron's only by its configuration. */
function vaultsAmong(files: readonly FoundFile[]): ImportPlan['vaults'] {
  const find = (name: RegExp) => files.find(({ origin }) => name.test(origin))?.origin
  const obsidian = find(/(?:^|\/)\.obsidian$/)
  const dendron =
    find(/(?:^|\/)dendron\.(?:yml|code-workspace)$/) ?? (obsidian === undefined ? find(/\.schema\.yml$/) : undefined)
  return { ...(obsidian === undefined ? {} : { obsidian }), ...(dendron === undefined ? {} : { dendron }) }
}

/** The path that a note's own would have in the knowledge base, if no other file collides with it. */
export function wishedPath(origin: string): string {
  return pagePath(portablePath(`neurons/${origin}`))
}

function pagePath(portable: string): string {
  return portable.replace(noteName, '.md')
}

/** Every file below a folder, by name; what is hidden or a tool's own is left out, links are not followed. */
async function listFiles(dir: string, prefix: string): Promise<FoundFile[]> {
  const files: FoundFile[] = []
  const entries = await readdir(join(dir, prefix), { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const origin = prefix + entry.name
    if (entry.name.startsWith('.')) files.push({ origin, problem: 'is hidden' })
    else if (entry.name.includes('\ufffd')) files.push({ origin, problem: 'has a name that is not UTF-8' })
    else if (entry.name === 'node_modules') files.push({ origin, problem: "is a tool's own" })
    else if (entry.isDirectory()) files.push(...(await listFiles(dir, `${origin}/`)))
    else if (entry.isFile()) files.push({ origin })
    else files.push({ origin, problem: entry.isSymbolicLink() ? 'is a symbolic link' : 'is not a file' })
  }
  return files
}

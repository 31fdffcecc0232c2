import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { portablePath } from '../../rules/paths/portable-path.ts'
import { type FoundFile, listFolder, noteName } from './list-folder.ts'
import { PathClaims } from './path-claims.ts'

/** File of the folder. `origin`: its path there; `source`: that path after the folder's name; `path`: its path in the knowledge base. */
export type PlannedFile = {
  origin: string
  source: string
  absolute: string
  path: string
  size: number
  /** Previous `source` of a note that was renamed in the folder. */
  formerSource?: string
}
export type Skipped = { path: string; reason: string }
export type ImportPlan = {
  notes: PlannedFile[]
  attachments: PlannedFile[]
  skipped: Skipped[]
  /** Path of the file that identifies the folder as a tool's vault, by tool. */
  vaults: { obsidian?: string; dendron?: string; logseq?: string }
}

/** Maximum size of a note: a page may have 1 MB, including the front matter that it gets here. */
export const maxNoteBytes = (1024 - 16) * 1024
/** Maximum size of a note's file with embedded pictures, which become files of their own. */
const maxNoteFileBytes = 32 * 1024 * 1024
const maxAttachmentBytes = 2 * 1024 * 1024

/**
 * Decides which files of a folder become notes and attachments of a knowledge base, and their paths. Portable names stay; others are
 * mended, and of two that would collide the later in alphabetical order gets a number.
 */
export async function planImport(
  dir: string,
  sourceName: string,
  { known, ...tools }: { known: Iterable<string> } & Parameters<typeof listFolder>[1],
): Promise<ImportPlan> {
  const files = await listFolder(dir, tools)
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

/** Detects vaults of tools. Next to Obsidian's settings, schemas alone do not make a Dendron vault: any tool may have them. */
function vaultsAmong(files: readonly FoundFile[]): ImportPlan['vaults'] {
  const find = (name: RegExp) => files.find(({ origin }) => name.test(origin))?.origin
  const obsidian = find(/(?:^|\/)\.obsidian$/)
  const dendron =
    find(/(?:^|\/)dendron\.(?:yml|code-workspace)$/) ?? (obsidian === undefined ? find(/\.schema\.yml$/) : undefined)
  const tools = Object.entries({ obsidian, dendron, logseq: find(/(?:^|\/)logseq\/config\.edn$/) })
  return Object.fromEntries(tools.filter(([, path]) => path !== undefined))
}

/** Returns the path that a note would have in the knowledge base if no other file collides with it. */
export function wishedPath(origin: string): string {
  return pagePath(portablePath(`neurons/${origin}`))
}

function pagePath(portable: string): string {
  return portable.replace(noteName, '.md')
}

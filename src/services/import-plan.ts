import { readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { pathKey, portablePath } from '../knowledge/portable-path.ts'

/** A file of the folder, and the path that it gets in the knowledge base. */
export type PlannedFile = { origin: string; absolute: string; path: string; size: number; modifiedAt: Date }
export type ImportPlan = {
  notes: PlannedFile[]
  attachments: PlannedFile[]
  renamed: { from: string; to: string }[]
  skipped: { path: string; reason: string }[]
}

const maxNoteBytes = 1024 * 1024
const maxAttachmentBytes = 2 * 1024 * 1024

/**
 * What of a folder becomes what in a knowledge base. Names stay where every file system can hold them; the others are
 * mended, and where two would collide the later in alphabetical order gets a number.
 */
export async function planImport(dir: string): Promise<ImportPlan> {
  const plan: ImportPlan = { notes: [], attachments: [], renamed: [], skipped: [] }
  const taken = new Set<string>()
  for (const { absolute, problem } of await listFiles(dir)) {
    const origin = relative(dir, absolute).split(sep).join('/')
    if (problem !== undefined) {
      plan.skipped.push({ path: origin, reason: problem })
      continue
    }
    const { size, mtime: modifiedAt } = await stat(absolute)
    const isNote = /\.(?:md|markdown)$/i.test(origin)
    const limit = isNote ? maxNoteBytes : maxAttachmentBytes
    if (size > limit) {
      plan.skipped.push({ path: origin, reason: `is larger than ${limit / 1024} KB` })
      continue
    }
    const wished = isNote ? origin.replace(/\.(?:md|markdown)$/i, '.md') : origin
    const path = freePath(portablePath(`neurons/${wished}`), taken)
    taken.add(pathKey(path))
    if (path !== `neurons/${origin}`) plan.renamed.push({ from: origin, to: path })
    const target = isNote ? plan.notes : plan.attachments
    target.push({ origin, absolute, path, size, modifiedAt })
  }
  return plan
}

function freePath(path: string, taken: ReadonlySet<string>): string {
  if (!taken.has(pathKey(path))) return path
  const dot = path.lastIndexOf('.')
  const [stem, extension] = dot > path.lastIndexOf('/') ? [path.slice(0, dot), path.slice(dot)] : [path, '']
  for (let number = 2; ; number++) {
    const candidate = `${stem}-${number}${extension}`
    if (!taken.has(pathKey(candidate))) return candidate
  }
}

/** Every file below a folder, by name; folders of tools (`.git`, `.obsidian`) are left out, links are not followed. */
async function listFiles(dir: string): Promise<{ absolute: string; problem?: string }[]> {
  const files: { absolute: string; problem?: string }[] = []
  const entries = await readdir(dir, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const absolute = join(dir, entry.name)
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    if (entry.isDirectory()) files.push(...(await listFiles(absolute)))
    else if (entry.isFile()) files.push({ absolute })
    else files.push({ absolute, problem: entry.isSymbolicLink() ? 'is a symbolic link' : 'is not a file' })
  }
  return files
}

import type { Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { findGitDir, listWorkTree, type WorkTreeFile } from '../../git/checkout/work-tree.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import type { OriginRow } from '../../kb/projection/candidate-index.ts'
import { parseDestination } from '../../markdown/links/markdown-link.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import type { Actor, Candidate } from '../../rules/candidates/candidate.ts'
import { candidateIdFor } from '../../rules/candidates/candidate-id.ts'
import { parseMetadata } from '../../rules/candidates/metadata.ts'
import { placeFromFolder } from '../../rules/links/file-target.ts'
import { pathKey, portablePath } from '../../rules/paths/portable-path.ts'
import type { ImportedFields, ImportNote } from './import-note.ts'

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

type Claim = { spelling: string; kind: 'folder' | 'file' | 'other' }

/**
 * Assigns paths that differ even if case and Unicode normalization are ignored: a folder keeps its first spelling, and a taken name gets a
 * number.
 */
export class PathClaims {
  readonly #claims = new Map<string, Claim>()

  /** Creates the claims. @param others existing files: the spelling of their folders wins, and they cannot become folders */
  constructor(others: Iterable<string>) {
    for (const path of others) {
      const folders = path.split('/').slice(0, -1)
      for (const depth of folders.keys()) {
        const folder = folders.slice(0, depth + 1).join('/')
        this.#claims.set(pathKey(folder), { spelling: folder, kind: 'folder' })
      }
      if (!this.#claims.has(pathKey(path))) this.#claims.set(pathKey(path), { spelling: path, kind: 'other' })
    }
  }

  /** Returns the path for a file that requests this one. */
  claim(path: string): string {
    const names = path.split('/')
    const file = names.pop() ?? ''
    let folder = ''
    for (const name of names) folder = `${this.#claim(folder + name, 'folder')}/`
    return this.#claim(folder + file, 'file')
  }

  #claim(path: string, kind: 'folder' | 'file'): string {
    for (let number = 1; ; number++) {
      const wished = numbered(path, kind, number)
      const known = this.#claims.get(pathKey(wished))
      if (kind === 'folder' && known?.kind === 'folder') return known.spelling
      if (known === undefined || (kind === 'file' && known.kind === 'other')) {
        this.#claims.set(pathKey(wished), { spelling: wished, kind })
        return wished
      }
    }
  }
}

function numbered(path: string, kind: 'folder' | 'file', number: number): string {
  if (number === 1) return path
  const dot = kind === 'file' ? path.lastIndexOf('.') : -1
  const end = dot > path.lastIndexOf('/') ? dot : path.length
  return `${path.slice(0, end)}-${number}${path.slice(end)}`
}

/**
 * File of the folder by its path there, or a skipped folder; `problem`: the reason. `isLookedInto`: true if files in a skipped folder are
 * imported when notes link to them.
 */
type FoundFile = { origin: string; problem?: string; isLookedInto?: boolean }

const noteName = /\.(?:md|markdown)$/i
/** Matches GitBook's tags for a file and for a reusable text, whose path is not a Markdown link. */
const gitbookPath = /\{%\s*(?:file\s+src=|include\s+)"([^"\n]*)"/g
const ignored = 'is ignored by git'

/**
 * Lists the files of a folder by name. Symbolic links are not followed. Build results, hidden files and files ignored by git are listed
 * with the reason to skip them, a folder of them once. A hidden file to which a note outside of hidden folders links counts as an ordinary
 * one, as in GitBook's `.gitbook/assets`. So does an attachment in a folder named by `.gitignore`, outside of a checkout: it may have been
 * tracked.
 * @param tools.gitDir a bare repository, which applies `.gitignore` files to a folder that is not under version control
 */
export async function listFolder(
  dir: string,
  { gitDir, parser }: { gitDir: string; parser: ParserPool },
): Promise<FoundFile[]> {
  const files = await walk(dir, '', (name) => (name.startsWith('.') ? 'is hidden' : undefined))
  const ofGit = await listedByGit(dir, files, gitDir)
  const kept = ofGit === undefined ? files : withoutIgnored(files, ofGit.files, ofGit.isCheckout)
  return [...kept, ...(await linkedHiddenFiles(dir, kept, parser))].sort((a, b) => (a.origin < b.origin ? -1 : 1))
}

async function walk(
  dir: string,
  prefix: string,
  problemOf: (name: string) => string | undefined,
): Promise<FoundFile[]> {
  const entries = await readdir(join(dir, prefix), { withFileTypes: true })
  // Cargo and other build tools mark folders that they can recreate, see https://bford.info/cachedir/.
  if (prefix !== '' && entries.some(({ name }) => name === 'CACHEDIR.TAG'))
    return [{ origin: prefix.slice(0, -1), problem: "is a tool's own" }]
  const files: FoundFile[] = []
  for (const entry of entries) {
    const origin = prefix + entry.name
    const problem = problemOf(entry.name) ?? entryProblem(entry)
    if (problem !== undefined)
      files.push({ origin, problem, isLookedInto: entry.isDirectory() && /^\.(?!git$)/i.test(entry.name) })
    else if (entry.isDirectory()) for (const file of await walk(dir, `${origin}/`, problemOf)) files.push(file)
    else files.push({ origin })
  }
  return files
}

function entryProblem(entry: Dirent): string | undefined {
  if (entry.name.includes('\ufffd')) return 'has a name that is not UTF-8'
  if (entry.name === 'node_modules') return "is a tool's own"
  if (entry.isDirectory() || entry.isFile()) return undefined
  return entry.isSymbolicLink() ? 'is a symbolic link' : 'is not a file'
}

/** Returns the files below the folder that git tracks or does not ignore; undefined if nothing there can be ignored. */
async function listedByGit(
  dir: string,
  files: readonly FoundFile[],
  gitDir: string,
): Promise<{ files: readonly WorkTreeFile[]; isCheckout: boolean } | undefined> {
  const folder = resolve(dir)
  for (let root = folder; ; root = dirname(root)) {
    const own = await findGitDir(root).catch(() => undefined)
    const prefix = root === folder ? '' : `${relative(root, folder)}/`
    const listed = own === undefined ? [] : await listWorkTree(own, root).catch(() => [])
    const below = listed.filter(({ path }) => path.startsWith(prefix))
    // A repository around the folder that tracks nothing in it, such as one for a home folder's settings, does not count.
    if (below.some(({ mode }) => mode !== undefined) || (own !== undefined && root === folder && below.length > 0))
      return { files: below.map((file) => ({ ...file, path: file.path.slice(prefix.length) })), isCheckout: true }
    if (own !== undefined || root === dirname(root)) break
  }
  const hasRules = files.some(({ origin }) => /(?:^|\/)\.gitignore$/.test(origin))
  return hasRules ? { files: await listWorkTree(gitDir, folder), isCheckout: false } : undefined
}

function withoutIgnored(files: readonly FoundFile[], ofGit: readonly WorkTreeFile[], isCheckout: boolean): FoundFile[] {
  const listed = new Set(ofGit.map(({ path }) => path.normalize('NFC')))
  const folders = new Set([...listed].flatMap((path) => prefixesOf(path)))
  const kept = new Map<string, FoundFile>()
  for (const file of files) {
    const prefixes = prefixesOf(file.origin)
    // A listed folder is a separate repository.
    const at = prefixes.findIndex((path) => listed.has(path.normalize('NFC')) || !folders.has(path.normalize('NFC')))
    const path = prefixes[at] ?? file.origin
    const isKept = listed.has(path.normalize('NFC')) || (path === file.origin && file.problem !== undefined)
    if (isKept) kept.set(file.origin, file)
    else kept.set(path, { origin: path, problem: ignored, isLookedInto: !isCheckout && path !== file.origin })
  }
  return [...kept.values()]
}

/** Returns the folders around a path, outermost first, and the path itself. */
function prefixesOf(path: string): string[] {
  const names = path.split('/')
  return names.map((_, depth) => names.slice(0, depth + 1).join('/'))
}

/** Returns the files of hidden folders to which notes link by path. A repository's own folder is never searched. */
async function linkedHiddenFiles(dir: string, files: readonly FoundFile[], parser: ParserPool): Promise<FoundFile[]> {
  const hidden = files.filter(({ isLookedInto }) => isLookedInto)
  if (hidden.length === 0) return []
  const names = [...new Set(hidden.map(({ origin }) => origin.slice(origin.lastIndexOf('/') + 1)))]
  const linked = new Set<string>()
  for (const { origin, problem } of files) {
    if (problem !== undefined || !noteName.test(origin)) continue
    const text = await readFile(join(dir, origin), 'utf8').catch(() => '')
    if (!names.some((name) => text.includes(`${name}/`))) continue
    const { links } = await parser.links(text)
    const others = Array.from(text.matchAll(gitbookPath), ([, path = '']) => parseDestination(path)?.target ?? '')
    for (const target of [...links.map(({ target }) => target), ...others])
      linked.add(placeFromFolder(target, origin) ?? target.normalize('NFC'))
  }
  const found: FoundFile[] = []
  for (const { origin, problem } of hidden) {
    const inside = await walk(dir, `${origin}/`, (name) => (name === '.git' ? 'is hidden' : undefined))
    for (const file of inside) {
      const isLinked = prefixesOf(file.origin).some((around) => linked.has(linkFrom(around, file.origin)))
      if (
        (linked.has(file.origin.normalize('NFC')) || linked.has(linkFrom('', `/${file.origin}`)) || isLinked) &&
        !(problem === ignored && noteName.test(file.origin))
      )
        found.push(file)
    }
  }
  return found
}

/** Returns the path of a file as a link from the root of a site in this folder writes it. */
function linkFrom(folder: string, path: string): string {
  return path.slice(folder.length).normalize('NFC')
}

/** Note after reading. `pictures`: pictures extracted from its text, by file name. */
export type ReadNote = PlannedFile & { note: ImportNote; pictures: ReadonlyMap<string, Buffer>; sha256: string }

/** Candidate of an earlier import, as in the index and on the queue. */
export type PastCandidate = { row: OriginRow; record: Candidate }

export const importConnector = 'import'
const maxTags = 64
const maxTagBytes = 80
const maxFormerNames = 20

/** Differences of a Neuron from its note: a curator's changes, and former names that links still use. */
export type Additions = { isMerged: boolean; formerNames: readonly string[] }

/** Returns a pending candidate of an import. @param reason of the verdict */
export function newCandidate(
  kb: KnowledgeBase,
  own: Pick<Candidate, 'title' | 'content' | 'metadata' | 'target' | 'base' | 'removes'>,
  { actor, at, reason }: { actor: Actor; at: Date; reason: string },
): Candidate {
  return {
    ...own,
    id: candidateIdFor(kb.identity.id, { msecs: at.getTime() }),
    kind: own.target === null ? 'external-feed' : 'ingest-page-update',
    connector: importConnector,
    ...{ confidence: null, impactEstimate: null, frontMatter: null, decisions: [] },
    verdict: { approve: false, zone: null, reason, warnings: [] },
    createdAt: at.toISOString(),
    createdBy: actor,
  }
}

export function importMetadata({ source, sha256, note }: ReadNote, { isMerged, formerNames }: Additions): string {
  const tags = note.tags.filter((tag) => Buffer.byteLength(tag) <= maxTagBytes).slice(0, maxTags)
  const metadata = { connector: importConnector, filename: source, fingerprint: sha256, tags }
  return JSON.stringify({
    ...metadata,
    ...(isMerged ? { merged: true } : {}),
    ...(formerNames.length === 0 ? {} : { formerNames: formerNames.slice(-maxFormerNames) }),
  })
}

export function formerNamesOf({ metadata }: Candidate): string[] {
  const { formerNames } = parseMetadata(metadata).data
  return Array.isArray(formerNames) ? formerNames.map(String) : []
}

export function isMerged({ metadata }: Candidate): boolean {
  return parseMetadata(metadata).data.merged === true
}

export function importedFields(
  { source, sha256 }: ReadNote,
  ids: { candidate: string; seqId: string; id: string },
): ImportedFields {
  return { ...ids, connector: importConnector, sources: [{ filename: source, sha256 }] }
}

/** Returns aliases with which a note whose path had to change keeps the names that others link to. */
export function aliasesFor({ origin, note }: ReadNote, path: string): string[] {
  const [from, to] = [origin, path.slice('neurons/'.length)].map((file) =>
    file.normalize('NFC').replace(/\.(?:md|markdown)$/i, ''),
  )
  if (from === undefined || from === to) return []
  const name = from.slice(from.lastIndexOf('/') + 1)
  const isNameKept = to?.slice(to.lastIndexOf('/') + 1) === name || name === note.title
  return [...(isNameKept ? [] : [name]), ...(from === name ? [] : [from])]
}

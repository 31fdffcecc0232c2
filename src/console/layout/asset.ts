import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'

type Asset = {
  type: string
  content: () => Promise<Buffer>
  /** The content compressed with brotli. */
  compressed: () => Promise<Buffer>
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const root = fileURLToPath(new URL('../', import.meta.url))
const require = createRequire(import.meta.url)

/** Scripts of packages, by the name under which they are served. Scripts of one name are in the order of their dependencies. */
const packaged: Readonly<Record<string, readonly string[]>> = {
  'htmx.js': [require.resolve('htmx.org/dist/htmx.min.js')],
  'd3-force.js': ['d3-dispatch', 'd3-quadtree', 'd3-timer', 'd3-force'].map(bundleOf),
}

const compress = promisify(brotliCompress)
const sources = readSources()
const version = versionOf(sources)
const assets = new Map([...sources].map(([name, source]) => [name, toAsset(name, source)]))

/** Every file that pages load is below this path. */
export const assetPrefix = '/assets'

/** Returns the URL of an asset. It changes with the content of any asset, so that a browser may cache assets for ever. */
export function asset(name: string): string {
  if (!assets.has(name)) throw new Error(`There is no asset ${name}.`)
  return `${assetPrefix}/${version}/${name}`
}

export function island(name: string): string {
  // Types are stripped here in a checkout, and by the compiler in a release.
  return asset(`islands/${name}${extname(import.meta.url)}`)
}

export function findAsset(name: string): Asset | undefined {
  return assets.get(name)
}

export function isCurrent(asked: string): boolean {
  return asked === version
}

/** Returns the texts of all assets by name. TypeScript files still have their types. */
function readSources(): Map<string, string> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
  const found = new Map<string, string>()
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  // The styles of the layout come first: those of areas build on them.
  const isOfArea = (path: string) => Number(!path.startsWith('layout/'))
  const styles = files.filter((path) => path.endsWith('.css')).toSorted((a, b) => isOfArea(a) - isOfArea(b))
  found.set('console.css', styles.map(read).join('\n'))
  for (const path of files) {
    if (/^islands\/[\w/-]+\.[jt]s$/.test(path) || path.endsWith('.svg')) found.set(path, read(path))
  }
  for (const [name, paths] of Object.entries(packaged))
    found.set(name, paths.map((path) => readFileSync(path, 'utf8')).join('\n'))
  return found
}

/** Returns the script of a D3 module for browsers, which its package does not export. */
function bundleOf(name: string): string {
  const ofD3 = createRequire(require.resolve('d3-force'))
  const main = name === 'd3-force' ? require.resolve(name) : ofD3.resolve(name)
  return join(dirname(main), '../dist', `${name}.min.js`)
}

async function scriptOf(name: string, source: string): Promise<string> {
  if (!name.endsWith('.ts')) return source
  if (name !== 'islands/codemirror.ts') return withoutTypes(source)
  const { browserBundle } = await import('./browser-bundle.ts')
  return browserBundle(join(root, name))
}

/** Strips types, without Node's warning that the function is experimental: the version is pinned, and a release has no types to strip. */
function withoutTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

function toAsset(name: string, source: string): Asset {
  let content: Promise<Buffer> | undefined
  let compressed: Promise<Buffer> | undefined
  // Runs at the first request: stripping types takes 35 MB.
  const readContent = () => (content ??= scriptOf(name, source).then((script) => Buffer.from(script)))
  return {
    type: types[extname(name)] ?? 'application/octet-stream',
    content: readContent,
    compressed: () => (compressed ??= readContent().then((script) => compress(script))),
  }
}

function versionOf(all: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256')
  for (const [name, source] of all) hash.update(`${name}\0${source.length}\0`).update(source)
  return hash.digest('hex').slice(0, 12)
}

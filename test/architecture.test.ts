import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

/** The floors, bottom up, and the arrows between features, as the drawing has them. */
const { floors, features } = readDrawing(readFileSync('docs/architecture.md', 'utf8'))

const imports = importsOf(globSync(['src/**/*.{ts,js}', 'packages/*/src/**/*.{ts,js}']))

test('files do not import each other in circles', () => {
  expect(inCircles(imports)).toEqual([])
})

test('folders do not import each other in circles', () => {
  const folders = new Set([...imports.keys()].flatMap(ancestors))
  expect([...folders].flatMap((folder) => inCircles(entriesOf(folder)))).toEqual([])
})

test('folders import only what the drawing of the architecture shows', () => {
  const floorOf = (name: string) => floors.findIndex((floor) => floor.includes(name))
  const isAllowed = (from: string, to: string) => floorOf(to) < floorOf(from) || features[from]?.includes(to)
  const wrong = [...entriesOf('src')].flatMap(([from, to]) =>
    [...to].filter((name) => !isAllowed(from, name)).map((name) => `${from} imports ${name}`),
  )
  const unused = Object.entries(features).flatMap(([from, to]) =>
    to.filter((name) => !entriesOf('src').get(from)?.has(name)).map((name) => `${from} imports no ${name}`),
  )
  expect([[...entriesOf('src').keys()].toSorted(), wrong, unused]).toEqual([floors.flat().toSorted(), [], []])
})

test('packages for others import only their own files, and the server imports packages by their names alone', () => {
  const outside = [...imports].flatMap(([file, imported]) => {
    const [own = ''] = /^(?:src|packages\/[^/]+)\//.exec(file) ?? []
    return own === 'packages/check/' ? [] : [...imported].filter((path) => !path.startsWith(own))
  })
  expect(outside).toEqual([])
})

test('names tell apart what is exported, and files', () => {
  const exported = /^export (?:declare |abstract |async )*(?:type|const|let|function\*?|class|interface) +(\w+)/gm
  // Programs of their own. A schema and its type share a name.
  const others = /^(?:src\/console\/islands|packages\/client)\//
  const files = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts']).filter((file) => !others.test(file))
  const places = new Map<string, Set<string>>()
  const add = (name: string, file: string) => places.set(name, (places.get(name) ?? new Set()).add(file))
  for (const file of files) {
    if (basename(file) !== 'routes.ts') add(basename(file), file)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(exported)) add(name, file)
  }
  expect([...places].filter(([, { size }]) => size > 1).map(([name, found]) => [name, ...found])).toEqual([])
})

test('a library is used by what it offers to everybody', () => {
  const inside = /\bextends MiniSearch\b|[\w)]\??\.(?:_\w|\['_)/
  const users = globSync('src/**/*.ts').filter((file) => readFileSync(file, 'utf8').includes("from 'minisearch'"))
  expect(users).not.toEqual([])
  expect(users.filter((file) => inside.test(readFileSync(file, 'utf8')))).toEqual([])
})

test('what a caller reads passes through a view of the knowledge base', () => {
  const matching = (pattern: string, text: RegExp) =>
    globSync(pattern)
      .filter((file) => text.test(readFileSync(file, 'utf8')))
      .sort()
  // These write, or index; what lint itself has proposed hides nothing.
  expect(
    matching(
      'src/{pages,chat,search/kb}/**/*.ts',
      /\bprojection\.(?:read|write|withSnapshot)\b|\b(?:read|write)\b.* = .*\bprojection$/m,
    ),
  ).toEqual([
    'src/pages/graph/survey-links.ts',
    ...['check-page', 'open-page', 'preview-rename', 'say-still-true', 'submit-page', 'write-page'].map(
      (name) => `src/pages/write/${name}.ts`,
    ),
    'src/search/kb/index-follower.ts',
    'src/search/kb/laid-over-search.ts',
  ])
  expect(matching('src/**/*.ts', /\bmaySee\(/)).toEqual([
    'src/kb/access/kb-view.ts',
    'src/kb/events/derive-events.ts',
    'src/queue/lists/kb-figures.ts',
    'src/rules/access/audience.ts',
    'src/search/index/catalog.ts',
  ])
})

/** Reads the floors (`subgraph` to `end`, top down) and the arrows between folders of a floor from a Mermaid flowchart. */
function readDrawing(document: string): { floors: string[][]; features: Record<string, string[]> } {
  const drawn = Array.from(document.matchAll(/^ {2}subgraph .*\n([\s\S]*?)\n {2}end$/gm), ([, inner = '']) =>
    inner.split('\n'),
  )
  const isArrow = (line: string) => line.includes(' --> ')
  const arrows = drawn
    .flat()
    .filter(isArrow)
    .map((line) => line.trim().split(' --> '))
  return {
    floors: drawn
      .map((lines) => lines.filter((line) => !isArrow(line)).flatMap((line) => line.trim().split('; ')))
      .reverse(),
    features: Object.fromEntries(arrows.map(([from = '', to = '']) => [from, to.split(' & ')])),
  }
}

/** What each file imports of ours, types included. */
function importsOf(files: readonly string[]): Map<string, Set<string>> {
  const known = new Set(files)
  return new Map(
    files.map((file) => {
      const imported = readFileSync(file, 'utf8').matchAll(/(?:\bfrom |\bimport\(|^import )'(\.[^']+)'/gm)
      const paths = Array.from(imported, ([, path = '']) => normalize(join(dirname(file), path)))
      return [file, new Set(paths.filter((path) => known.has(path)))]
    }),
  )
}

function ancestors(path: string): string[] {
  const parts = dirname(path).split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** What the files and folders of a folder import of each other. */
function entriesOf(folder: string): Map<string, Set<string>> {
  const entryOf = (path: string) =>
    path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/')[0] : undefined
  const graph = new Map<string, Set<string>>()
  for (const [file, imported] of imports) {
    const from = entryOf(file)
    if (from === undefined) continue
    const known = graph.get(from) ?? new Set()
    graph.set(from, known)
    for (const to of [...imported].map(entryOf)) if (to !== undefined && to !== from) known.add(to)
  }
  return graph
}

/** Returns what stands in a circle, or between two: what is left when all is taken away that imports nothing left, or is not imported. */
function inCircles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  let left = [...graph.keys()]
  for (let before = -1; before !== left.length; ) {
    before = left.length
    left = left.filter((node) => left.some((other) => graph.get(node)?.has(other)))
    left = left.filter((node) => left.some((other) => graph.get(other)?.has(node)))
  }
  return left
}

import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { Ganglion } from '../packages/client/src/ganglion.ts'

const documents = globSync([
  'docs/*.md',
  'packages/*/README.md',
  'README.md',
  'CONTRIBUTING.md',
  'test/README.md',
]).sort()

/** Metaphors and paraphrases, where the field has a word: reject, bypass, notify, expensive, missing. */
const refused =
  /\b(?:whoever|give way|gives way|may be had|as it comes|(?:is|are) told|told of|tells? of|hears?|heard|that was first|beside that|somebody was faster|for good|dear(?:er|est)?|gathers?|goes around|shelf|paint(?:ed)?)\b/gi

test('documents use the words of the field', () => {
  expect(documents.flatMap((path) => linesOf(path).flatMap(([line, text]) => found(`${path}:${line}`, text)))).toEqual(
    [],
  )
})

const refusedInNames =
  /(?:^|[a-z-])(?:Hear|Tell|Told|Paint|Painted|Shelf)(?:[A-Z-]|s?$)|^(?:hear|tell|told|paint|shelf)(?:[A-Z-]|s?$)|-(?:teller|shelf)$/

test('files and exported names use the words of the field', () => {
  const files = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts'])
  const exported = files.flatMap((path) =>
    Array.from(
      readFileSync(path, 'utf8').matchAll(/^export (?:async )?(?:function\*?|const|class|type|interface) (\w+)/gm),
      ([, name = '']) => name,
    ),
  )
  const names = [...files.map((path) => basename(path, '.ts')), ...exported]
  expect(names.filter((name) => refusedInNames.test(name))).toEqual([])
})

test('documents name files and sections that exist', () => {
  const wrong = documents.flatMap((path) =>
    linesOf(path).flatMap(([line, text]) => missing(path, text).map((target) => `${path}:${line} ${target}`)),
  )
  expect(wrong).toEqual([])
})

test('documents quote the lines of the files that they name', () => {
  const quoted = documents.flatMap((path) =>
    Array.from(readFileSync(path, 'utf8').matchAll(/^```ts (\S+)\n([\s\S]*?)^```$/gm), ([, file = '', code = '']) => ({
      file,
      code,
    })),
  )
  expect(quoted.filter(({ file, code }) => !readFileSync(file, 'utf8').includes(code))).toEqual([])
  expect(quoted).not.toEqual([])
})

test('documents name npm scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const named = documents.flatMap((path) =>
    Array.from(
      readFileSync(path, 'utf8').matchAll(/\bnpm run (?:-s |--silent )?([a-z][\w:]*)/g),
      ([, name = '']) => name,
    ),
  )
  expect(new Set(named).difference(new Set(Object.keys(scripts)))).toEqual(new Set())
})

test('docs/api.md lists every operation, and packages/client/README.md every method', () => {
  const [endpoints = ''] = readFileSync('docs/api.md', 'utf8').split('```')
  const rows = endpoints.replaceAll(/\{\w+\}/g, '{}').split('\n')
  const operations = Array.from(
    readFileSync('test/surface/openapi.txt', 'utf8').matchAll(/^(\w+) (\/api\S+) \{/gm),
    ([, method = '', path = '']) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, '{}') }),
  )
  const isListed = ({ method, path }: (typeof operations)[number]) =>
    rows.some((row) =>
      [...row.matchAll(/`(?:[A-Z]+ )?(…?)(\/[^`]*)`/g)].some(
        ([, cut, listed = '']) => row.includes(`\`${method}`) && (cut ? path.endsWith(listed) : path === listed),
      ),
    )
  expect(operations.length).toBeGreaterThan(40)
  expect(operations.filter((operation) => !isListed(operation))).toEqual([])

  const [, calls = ''] = readFileSync('packages/client/README.md', 'utf8').split('## Calls')
  const client = new Ganglion({ url: 'http://localhost' })
  const methods = [client.candidates, client.me, client.sources, client.kb('a'), client.kb('a').neurons].flatMap(
    Object.keys,
  )
  expect(methods.filter((name) => !new RegExp(`\`(?:[\\w]+\\.)*${name}(?:\\.\\w+)*\``).test(calls))).toEqual([])
})

const found = (place: string, text: string) =>
  Array.from(text.replaceAll(/`[^`]*`/g, '').matchAll(refused), ([word]) => `${place} ${word}`)

/** The numbered lines of a document outside of fences, without code. */
function linesOf(path: string): [number, string][] {
  let isCode = false
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((text, index): [number, string][] => {
      const isFence = text.startsWith('```')
      if (isFence) isCode = !isCode
      return isFence || isCode ? [] : [[index + 1, text]]
    })
}

function missing(path: string, text: string): string[] {
  const links = Array.from(
    text.replaceAll(/`[^`]*`/g, '').matchAll(/\]\((?!\w+:)([^)#\s]*)(#[^)\s]*)?\)/g),
    ([, file = '', anchor = '']) => {
      const target = file === '' ? path : join(dirname(path), file)
      const isThere = existsSync(target) && (anchor === '' || anchorsOf(target).includes(anchor))
      return isThere ? [] : [file + anchor]
    },
  )
  const paths = Array.from(text.matchAll(/`((?:src|test|bench)\/[\w./-]+\.(?:ts|js))`/g), ([, file = '']) =>
    existsSync(file) ? [] : [file],
  )
  return [...links, ...paths].flat()
}

/** Anchors of the headings, as forges make them. */
function anchorsOf(path: string): string[] {
  return linesOf(path).flatMap(([, text]) => {
    const [, heading] = /^#+ (.*)$/.exec(text) ?? []
    return heading === undefined
      ? []
      : [
          `#${heading
            .toLowerCase()
            .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
            .replaceAll(' ', '-')}`,
        ]
  })
}

import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * Words with which a comment of a declaration is a fragment: it begins with a verb (`Returns`), a noun (`URL of …`) or `True if`, so that it
 * is understood without the name below it.
 */
const fragment =
  /^(?:Of|Other|What|Who|Whoever|Whose|Those|These|By|As|Without|For|From|To|With|In|On|Where|When|Which|How|Why|Also|Only|Not|Nothing|Somebody|Anybody|So|Then|Its|They|That)\b(?! (?:ISO|RFC|UTF)\b)/
const lineFragment = /^(?:Of|Other|Who|Whoever|Those|What)\b/

const first = /^\s*\/\*\*(?: (?<one>.+?)(?:\s*\*\/)?|\n\s*\* (?<many>.+))$/gm
const line = /(?<!\/\/ .*\n)^\s*\/\/ (?<text>.+)$/gm

test('comments stand alone', () => {
  const found = globSync(['src/**/*.ts', 'packages/*/**/*.ts'], {
    exclude: ['**/node_modules/**', '**/schema.ts'],
  }).flatMap((file) => {
    const code = readFileSync(file, 'utf8')
    const docs = Array.from(code.matchAll(first), ({ groups }) => groups?.one ?? groups?.many ?? '')
    const lines = Array.from(code.matchAll(line), ({ groups }) => groups?.text ?? '')
    const wrong = [...docs.filter((text) => fragment.test(text)), ...lines.filter((text) => lineFragment.test(text))]
    return wrong.map((text) => `${file}: ${text}`)
  })
  expect(found).toEqual([])
})

import { expect, test } from 'vitest'
import { rewriteInboundLinks } from '../../../../src/kb/writing/rename/follow-renames.ts'
import { aliasesToKeep, lostNames } from '../../../../src/kb/writing/rename/name-change.ts'
import { editNeuron, parseNeuronFile } from '../../../../src/markdown/file/neuron-file.ts'
import { namedNeurons, resolveTarget } from '../../../../src/rules/links/link-target.ts'
import { writtenLinks } from '../../../../src/rules/links/written-link.ts'
import { extractLinks } from '../../../markdown/extract-parts.ts'
import { fc, runs } from '../../../support/properties.ts'
import { kbWith, renameTo } from '../../support/renames.ts'
import { neuronText, seq } from '../../support/written-neurons.ts'

/** Few names, so that they meet: folded, as titles, aliases, files and ends of paths. */
const names = ['One', 'one', 'Two', 'x/two', 'Öne', 'C#', 'T-h-r-e-e', 'three', 'a [b]', seq(2)] as const
const name = fc.constantFrom(...names)
const fileName = fc.constantFrom('one', 'two', 'x/one', 'x/two', 'three', 'y/x/two', 'Two')
const target = fc.oneof(
  name,
  fileName,
  fileName.map((path) => `./${path}.md`),
)
const identity = fc.record({ title: name, aliases: fc.array(name, { maxLength: 1 }), path: fileName })
const neuron = fc.record({
  now: identity,
  links: fc.array(target, { maxLength: 4 }),
  edges: fc.array(target, { maxLength: 1 }),
})
const worlds = fc
  .tuple(
    fc.array(neuron, { minLength: 2, maxLength: 4 }),
    fc.array(fc.option(identity, { nil: undefined }), { minLength: 4, maxLength: 4 }),
  )
  .map(([neurons, later]) => neurons.map((each, index) => ({ ...each, later: later[index] ?? each.now })))
  .filter((all) =>
    [all.map(({ now }) => now), all.map(({ later }) => later)].every(
      (state) => new Set(state.map(({ path }) => path.toLowerCase())).size === state.length,
    ),
  )

/** Resolves every link of the files, by Neuron and in order. */
function meanings(files: ReadonlyMap<string, string>) {
  const parsed = [...files].map(([path, text]) => ({ path, ...parseNeuronFile(text) }))
  const all = parsed.flatMap(({ path, fields: { seqId = '', title, aliases } }) =>
    namedNeurons({ seqId, path, title, aliases }),
  )
  const lookup = (key: string) => all.filter((named) => named.key === key)
  return new Map(
    parsed.map(({ path, fields, content }) => [
      fields.seqId,
      writtenLinks(fields, extractLinks(content)).map((link) => resolveTarget({ ...link, from: path }, lookup)),
    ]),
  )
}

test('whatever is renamed at once, links to renamed Neurons mean the same after it', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const state = (when: 'now' | 'later') =>
        new Map(
          world.map(({ links, edges, ...each }, index) => {
            const { path, ...fields } = each[when]
            const body = links.map((link) => `[[${link}]]\n`).join('\n')
            const written = { ...fields, edges: edges.map((edge): [string, string] => ['cites', edge]) }
            return [`neurons/${path}.md`, neuronText(index + 1, written, body)]
          }),
        )
      const [before, after] = [state('now'), state('later')]
      const kb = await kbWith(Object.fromEntries([...before].map(([path, text]) => [path.slice(8), text])))
      const renames = [...after].map(([path, text]) => renameTo(path.slice(8), text))
      const isRenamed = new Set(
        renames.filter(({ seqId, after: to }) => lostNames(kb, seqId, to).length > 0).map(({ seqId }) => seqId),
      )
      const gone = [...before.keys()].filter((path) => !after.has(path))
      const written = [...after].filter(([path, text]) => before.get(path) !== text)
      const changed = new Map([...gone.map((path): [string, null] => [path, null]), ...written])
      const { pages, aliases } = await rewriteInboundLinks(kb, kb.repository, { renames, changed })
      const result = new Map([...after].map(([path, text]) => [path, pages.get(path) ?? text]))
      expect(aliases.size).toBe(0)
      const [meantBefore, meantAfter] = [meanings(before), meanings(result)]
      for (const [seqId, links] of meantBefore) {
        for (const [index, meant] of links.entries()) {
          if ('seqId' in meant && isRenamed.has(meant.seqId)) expect(meantAfter.get(seqId)?.[index]).toEqual(meant)
        }
      }
    }),
    { numRuns: runs(30, 8) },
  )
})

/** A link that is written as a path does not find the title that is spelled so. */
const pathThatBecomesTitle: typeof worlds extends fc.Arbitrary<infer World> ? World : never = [
  {
    now: { title: 'One', aliases: ['One'], path: 'three' },
    links: ['./three.md'],
    edges: [],
    later: { title: 'three', aliases: [], path: 'x/two' },
  },
  {
    now: { title: 'One', aliases: [], path: 'one' },
    links: [],
    edges: [],
    later: { title: 'One', aliases: [], path: 'one' },
  },
]

test('without rewriting, the kept aliases let every link lead to one renamed Neuron as before', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async ([first, ...others]) => {
      fc.pre(first !== undefined)
      const files = (when: 'now' | 'later') =>
        new Map(
          [{ ...first, now: first[when] }, ...others].map(({ now: { path, ...fields }, links }, index) => [
            `neurons/${path}.md`,
            neuronText(index + 1, fields, links.map((link) => `[[${link}]]\n`).join('\n')),
          ]),
        )
      const before = files('now')
      const kb = await kbWith(Object.fromEntries([...before].map(([path, text]) => [path.slice(8), text])))
      const path = `neurons/${first.later.path}.md`
      const after = { path, title: first.later.title, aliases: [...first.later.aliases, ...first.now.aliases] }
      const kept = aliasesToKeep(kb, seq(1), after)
      const withAlias = new Map(files('later'))
      const text = withAlias.get(path)
      fc.pre(text !== undefined && withAlias.size === before.size)
      withAlias.set(path, editNeuron(text, { aliases: [...after.aliases, ...kept] }))
      const [meantBefore, meantAfter] = [meanings(before), meanings(withAlias)]
      for (const [seqId, links] of meantBefore) {
        for (const [index, meant] of links.entries()) {
          if (!('seqId' in meant) || meant.seqId !== seq(1)) continue
          // Another Neuron answers to that name first now, or as well.
          const found = meantAfter.get(seqId)?.[index]
          expect(found === undefined || 'missing' in found).toBe(false)
        }
      }
    }),
    { numRuns: runs(30, 8), examples: [[pathThatBecomesTitle]] },
  )
})

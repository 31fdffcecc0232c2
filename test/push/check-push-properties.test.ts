import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkDirectory } from '../../src/push/clone-check/check-directory.ts'
import type { Finding } from '../../src/rules/neurons/neuron.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { type Pushing, pushing } from '../kb/support/push-support.ts'
import { neuronText, seq } from '../kb/support/written-neurons.ts'
import { fc, runs } from '../support/properties.ts'

const id = (number: number) => `0199a5c2-0000-7000-8000-00000000000${number}`
const withId = (number: number, text: string) => text.replace('---\n', `---\nid: ${id(number)}\n`)
const start = {
  'a.md': withId(1, neuronText(1, { title: 'Alpha', aliases: ['One'] }, '[[Beta]] [[d]] [[map.png]]\n')),
  'b.md': withId(2, neuronText(2, { title: 'Beta' }, '[[Alpha]] [[sub/c]] [[Nowhere]]\n')),
  'sub/c.md': withId(3, neuronText(3, { title: 'Gamma', edges: [['cites', seq(1)]] }, '[[One]]\n')),
  'sub/d.md': neuronText(4, { title: 'Delta', aliases: ['One'] }, '[[Gamma]]\n'),
  'bad.md': '---\ntitle: [\n---\nText.\n',
  'gone.md': neuronText(5, { title: 'Gone' }, '[[Beta]]\n'),
  'map.png': 'png',
}
/** Files that no push could have brought. */
const unsound = { ...start, 'copy.md': neuronText(4, { title: 'A copy' }, '[[Alpha]]\n') }
const paths = [...Object.keys(start), 'new.md', 'A.md', 'Sub/x.md', 'CON.md', 'sub/new/e.md', 'map.jpg']
const bodies = [
  '[[Alpha]]',
  '[[One]] [[Delta]]',
  '[[c]] [[neurons/sub/c.md]]',
  '[[gone]] [[new]]',
  '![[map.png]] [[map.jpg]]',
]

type Step = {
  name: 'write' | 'body' | 'seqId' | 'id' | 'title' | 'move' | 'swap' | 'copy' | 'remove' | 'settings'
  a: number
  b: number
}
const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom<Step['name'][]>(
    ...(['write', 'body', 'seqId', 'id', 'title', 'move', 'swap', 'copy', 'remove', 'settings'] as const),
  ),
  a: fc.nat(100),
  b: fc.nat(100),
})
const pick = <T>(items: readonly T[], index: number): T => {
  const item = items[index % items.length]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

function apply({ clone, put, move }: Pushing, { name, a, b }: Step): void {
  const folder = join(clone, 'neurons')
  const present = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(clone.length + 1))
    .sort()
  fc.pre(present.length > 1)
  const [one, other] = [pick(present, a), pick(present, b)]
  const read = (path: string) => readFileSync(join(clone, path), 'utf8')
  const edit = (change: (text: string) => string) => put(one, change(read(one)))
  const target = `neurons/${pick(paths, b)}`
  const body = `${pick(bodies, b)}\n`
  if (name === 'write') put(target, pick([body, neuronText(1 + (a % 7), { title: 'New' }, body), '---\n: [\n---\n'], a))
  if (name === 'body') edit((text) => text + body)
  if (name === 'seqId')
    edit((text) => text.replace(/^seqId: .*\n/m, pick(['', `seqId: ${seq(1 + (b % 7))}\n`, 'seqId: x\n'], b)))
  if (name === 'id')
    edit((text) => text.replace('---\n', `---\nid: ${id(b % 4)}\n`).replace(/^(id: .*\n)id: .*\n/m, '$1'))
  if (name === 'title') edit((text) => text.replace(/^title: .*$/m, `title: ${pick(['Beta', 'One', 'Other'], b)}`))
  if (name === 'move' && !existsSync(join(clone, target))) move(one, target)
  if (name === 'swap') {
    const text = read(one)
    put(one, read(other))
    put(other, text)
  }
  if (name === 'copy') put(target, read(one))
  if (name === 'remove') rmSync(join(clone, one))
  if (name === 'settings')
    put('kb.yaml', `${read('kb.yaml')}\n${pick(['extra: 1', 'policy: [', 'language: "?"', ''], a)}\n`)
}

/** A second file of one seqId, and a page that is read the first time: another order of the same files. */
const copied: Step[] = [
  { name: 'copy', a: 11, b: 37 },
  { name: 'write', a: 0, b: 4 },
]

/** A name that two others have. */
const namesake: Step[] = [{ name: 'title', a: 7, b: 16 }]

const brief = ({ severity, path, line, rule, message }: Finding) => `${severity} ${path}:${line} ${rule} ${message}`
/** Rules that only a push, or only a check of a whole knowledge base, reports. */
const differing = new Set(['unknown-seq-id', 'shown-files', 'used-id', 'inbound-links', 'path-collision'])
/** A server knows by which paths main's links find a page that is moved, and keeps them as aliases; a checkout does not. */
const isKeptByAlias = ({ rule, message }: Finding) =>
  rule === 'broken-link' && /\[\[(?:d|(?:neurons\/)?sub\/c(?:\.md)?)\]\]/.test(message)

// A server knows no names of a file that is not the first to hold its seqId.
test.each([
  ['everything', start, ['error', 'warning']],
  ['every error, in a knowledge base with a copied page,', unsound, ['error']],
])('a push reports %s that `ganglion check` finds in the files that it changes', async (_, files, severities) => {
  const pushed = await pushing(files)
  const { clone, commit, findings } = pushed
  // As a Neuron that main has had before, so that it may come back.
  rmSync(join(clone, 'neurons/gone.md'))
  await pushed.accept(commit())
  const from = nativeGit(clone, ['rev-parse', 'HEAD'])
  const isCompared = (finding: Finding) =>
    severities.includes(finding.severity) && !differing.has(finding.rule) && !isKeptByAlias(finding)
  const compared = (found: Finding[]) => found.filter(isCompared).map(brief).sort()
  const collides = (found: Finding[]) => found.some(({ rule }) => rule === 'path-collision')
  const check = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
    nativeGit(clone, ['reset', '--quiet', '--hard', from])
    for (const each of steps) apply(pushed, each)
    const to = commit()
    const changed = nativeGit(clone, ['diff', '--name-only', '--no-renames', '-z', from, to])
      .split('\0')
      .filter((path) => path !== '')
    fc.pre(changed.length > 0)
    const whole = (await checkDirectory(clone, { base: from })).findings.filter(({ path }) => changed.includes(path))
    const push = await findings(to)
    expect(compared(push)).toEqual(compared(whole))
    // Of two names that collide, a push is blamed for the one that it adds.
    if (collides(whole)) expect(collides(push)).toBe(true)
  })
  await fc.assert(check, { numRuns: runs(50, 12), examples: [[copied], [namesake]] })
})

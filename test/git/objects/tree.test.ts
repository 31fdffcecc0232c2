import { expect, test } from 'vitest'
import { hashObject, Tree } from '../../../src/git/objects/object.ts'
import { fc, runs } from '../../support/properties.ts'

const names = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-', '0', '\xff', 'Z'), minLength: 1, maxLength: 3 })
const entries = fc.option(
  fc.record({
    mode: fc.constantFrom('100644', '40000'),
    oid: fc.string().map((text) => hashObject('blob', Buffer.from(text))),
  }),
  { nil: undefined },
)

function inGitsOrder(tree: Tree): boolean {
  const keys = tree.entries.map(({ mode, name }) => Buffer.from(mode === '40000' ? `${name}/` : name, 'latin1'))
  return keys.every((key, index) => index === 0 || Buffer.compare(keys[index - 1] ?? key, key) < 0)
}

test("any sequence of edits keeps git's order, and bytes that decode to the same entries", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(names, entries), { maxLength: 30 }), (edits) => {
      const model = new Map<string, { mode: string; oid: string }>()
      let tree = Tree.empty
      for (const [name, entry] of edits) {
        const before = tree
        const edit = tree.with(name, entry)
        tree = edit.tree
        if (entry === undefined) model.delete(name)
        else model.set(name, entry)
        expect(tree.get(name)).toEqual(entry === undefined ? undefined : { ...entry, name })
        if (edit.delta !== undefined) {
          const { at, removed, insert } = edit.delta
          const applied = Buffer.concat([before.data.subarray(0, at), insert, before.data.subarray(at + removed)])
          expect(applied.equals(tree.data)).toBe(true)
        }
      }
      expect(new Map(tree.entries.map(({ name, mode, oid }) => [name, { mode, oid }]))).toEqual(model)
      expect(inGitsOrder(tree)).toBe(true)
      expect(Tree.decode(tree.data).entries).toEqual(tree.entries)
    }),
    { numRuns: runs(500) },
  )
})

test('edits made together give the tree that they give one after the other', () => {
  const batch = fc.array(fc.tuple(names, entries), { maxLength: 8 })
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 5 }), (batches) => {
      let [together, single] = [Tree.empty, Tree.empty]
      for (const edits of batches) {
        const changes = new Map(edits)
        const { tree, delta } = together.withAll(changes)
        if (delta !== undefined) {
          const { at, removed, insert } = delta
          const { data } = together
          const applied = Buffer.concat([data.subarray(0, at), insert, data.subarray(at + removed)])
          expect(applied).toEqual(tree.data)
        }
        together = tree
        for (const [name, entry] of changes) single = single.with(name, entry).tree
        expect(together.data).toEqual(single.data)
        expect(together.entries).toEqual(single.entries)
        for (const name of changes.keys()) expect(together.get(name)).toEqual(single.get(name))
      }
    }),
    { numRuns: runs(500) },
  )
})

test('a tree that is cut short is an error', () => {
  const { data } = Tree.empty.with('a', { mode: '100644', oid: hashObject('blob', Buffer.from('x')) }).tree
  expect(() => Tree.decode(data.subarray(0, data.length - 1))).toThrow('cut short')
})

import { expect, test } from 'vitest'
import { linkKey } from '../../../src/rules/links/link-target.ts'
import { NameIndex } from '../../../src/rules/lint/lint-names.ts'

function likely(target: string, ...names: string[]): string[] {
  const index = new NameIndex()
  for (const name of names) index.add(linkKey(name), name)
  return index.likely(linkKey(target))
}

test.each([
  ['On-call rotaton', 'On-call rotation'],
  ['Kuberntes', 'Kubernetes'],
  ['recieve', 'receive'],
  ['Neurons', 'Neuron'],
  ['VIP policy', 'VIP escalation policy'],
  ['escalation, VIP policy', 'VIP escalation policy'],
  ['Übergab', 'Übergabe'],
])('%s is likely meant for %s', (target, name) => {
  expect(likely(target, 'Something else', name, 'Yet another')).toEqual([name])
})

test.each([
  ['Python', 'Python tips'],
  ['Rust', 'Trust'],
  ['cats', 'bats'],
  ['2026-05-01', '2026-05-02'],
  ['Chapter 1', 'Chapter 11'],
  ['handbook_00000042', 'handbook_00000043'],
  ['The art of war', 'The art of cooking'],
  ['???', '!!!'],
])('%s is not meant for %s', (target, name) => {
  expect(likely(target, name)).toEqual([])
})

test('the likeliest come first, three at most', () => {
  const names = ['Escalation polices', 'Escalation policie', 'Escalation policy', 'Escalation policiess', 'Escalation']
  expect(likely('Escalation policies', ...names)).toEqual([
    'Escalation policiess',
    'Escalation policie',
    'Escalation polices',
  ])
})

test('a name of several Neurons stands for all of them', () => {
  const index = new NameIndex()
  index.add('receive', 'b')
  index.add('receive', 'a')
  expect(index.likely('recieve')).toEqual(['a', 'b'])
})

test('names that all begin alike do not hide the one that is meant', () => {
  const index = new NameIndex()
  for (let n = 0; n < 3000; n++) index.add(`meeting of the group ${n}`, `m${n}`)
  index.add('meeting of the board', 'board')
  expect(index.likely('meeting of the bord')).toEqual(['board'])
})

import { describe, expect, test } from 'vitest'
import { engines } from '../engine-support.ts'
import { curator, keysOf, newIndex, page } from '../support.ts'

const german = [
  page('d_1', 'Der Mietvertrag endet im Mai.'),
  page('d_2', 'Kaufverträge sind zu prüfen.'),
  page('d_3', 'Ein Gremium tagt.'),
]

describe.each(engines)('%s', (engine) => {
  const asked = (index: ReturnType<typeof newIndex>, question: string) =>
    index.retrieve(question, curator).map(({ key }) => key)

  test('a word that no page has is the last part of a compound, in languages that join nouns', () => {
    const index = newIndex(engine, german, undefined, 'de')
    expect(keysOf(index, 'Vertrag').sort()).toEqual(['d_1', 'd_2'])
    expect(keysOf(index, 'Verträge prüfen')).toEqual(['d_2'])
    expect(asked(index, 'Wann endet der Vertrag?')[0]).toBe('d_1')
    expect(keysOf(newIndex(engine, [page('e_1', 'A whiteboard')]), 'board')).toEqual([])
    const known = newIndex(engine, [...german, page('d_4', 'Ein Vertrag.')], undefined, 'de')
    expect(keysOf(known, 'Vertrag')[0]).toBe('d_4')
    expect(keysOf(known, 'Vertrag')).not.toContain('d_1')
  })

  test('a number is found within a longer one', () => {
    const pages = [
      page('n_1', 'Invoice INV-4711-2024 is paid.'),
      page('n_2', 'Invoice 0004711 is open.'),
      page('n_3', 'Invoice INV0815 is lost.'),
      page('n_4', 'Invoice 4712 is open.'),
    ]
    const index = newIndex(engine, pages)
    expect(keysOf(index, '4711').sort()).toEqual(['n_1', 'n_2'])
    expect(keysOf(index, '0004711')[0]).toBe('n_2')
    expect(keysOf(index, '0815')).toEqual(['n_3'])
    expect(keysOf(index, '4713')).toEqual([])
    expect(asked(index, 'Which invoice has 0815?')[0]).toBe('n_3')
  })

  test('an initialism finds what it stands for, and is found by it', () => {
    const index = newIndex(engine, [
      page('i_1', 'Phones and laptops.', { title: 'Bring your own device' }),
      page('i_2', 'We allow BYOD in every office.'),
      page('i_3', 'Our Bring Your Own Device rules.'),
      page('i_4', 'Take your laptop with you, and bring tea. Your own cup is a device.'),
      page('i_5', 'The Point of Sale prints, and POS is its name.'),
    ])
    expect(keysOf(index, 'BYOD').sort()).toEqual(['i_1', 'i_2', 'i_3'])
    expect(keysOf(index, 'BYOD')[0]).toBe('i_2')
    expect(keysOf(index, 'byod laptops')[0]).toBe('i_1')
    expect(keysOf(index, 'bring your own device').sort()).toEqual(['i_1', 'i_2', 'i_3', 'i_4'])
    expect(asked(index, 'May I do BYOD?')).toEqual(expect.arrayContaining(['i_1', 'i_2', 'i_3']))
    expect(asked(index, 'May I bring your own device?')).toContain('i_2')
    expect(keysOf(index, 'point of sale')).toEqual(['i_5'])
  })
})

test('code stands behind prose for a question in words alone', () => {
  const code = '```\nbackup weekly\n```'
  const index = newIndex('minisearch', [
    page('c_1', 'The backup runs weekly, as told at length here and there, beside the rest of it.'),
    {
      ...page('c_2', ''),
      chunks: [{ headings: [], content: code, text: 'backup weekly' }],
    },
  ])
  const rankOf = (question: string) => index.retrieve(question, curator).find(({ key }) => key === 'c_1')?.rank ?? 0
  expect(rankOf('When is the weekly backup?')).toBeGreaterThan(rankOf('When is the `weekly` backup?'))
})

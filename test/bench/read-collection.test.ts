import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readCollection } from '../../bench/quality/read-collection.ts'
import { tempDir } from '../support/temp.ts'

function folderOf(files: Record<string, string>): string {
  const folder = join(tempDir(), 'little')
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

const beir = {
  'corpus.jsonl': '{"_id": "d1", "title": "Wings", "text": "Lift."}\n{"_id": "d2", "text": "Drag.", "metadata": {}}\n',
  'queries.jsonl':
    '{"_id": "q1", "text": "lift"}\n{"_id": "q2", "text": "not judged"}\n{"_id": "q3", "text": "in vain"}\n',
  'qrels/test.tsv': 'query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq3\td1\t0\n',
}

const cranfield = {
  'cran.all.1400':
    '.I 1\n.T\nwings in a\nslipstream .\n.A\nbrenckman\n.B\nj. ae.\n.W\nlift of wings\n  and more .\n.I 2\n.T\n.A\n.B\n.W\n',
  'cran.qry': '.I 001\r\n.W\r\nwhat lift\r\nis there .\r\n.I 004\r\n.W\r\nwhat drag\r\n',
  cranqrel: '1 1 1 \n1 2 -1\n2 2 4\n',
}

test("a folder of BEIR's form gives documents, judged queries and their grades", async () => {
  expect(await readCollection(folderOf(beir))).toEqual({
    name: 'little',
    documents: [
      { id: 'd1', title: 'Wings', text: 'Lift.' },
      { id: 'd2', title: '', text: 'Drag.' },
    ],
    queries: [{ id: 'q1', text: 'lift' }],
    judgements: new Map([
      [
        'q1',
        new Map([
          ['d1', 2],
          ['d2', 0],
        ]),
      ],
      ['q3', new Map([['d1', 0]])],
    ]),
  })
})

test('a line that is no document is refused', async () => {
  await expect(readCollection(folderOf({ ...beir, 'corpus.jsonl': '{"title": "No id"}\n' }))).rejects.toThrow('_id')
  await expect(readCollection(folderOf({ ...beir, 'qrels/test.tsv': 'heading\nq1\td1\n' }))).rejects.toThrow()
})

test("Cranfield's queries are numbered by their order, and its best code is the highest grade", async () => {
  expect(await readCollection(folderOf(cranfield))).toEqual({
    name: 'little',
    documents: [
      { id: '1', title: 'wings in a slipstream .', text: 'lift of wings and more .' },
      { id: '2', title: '', text: '' },
    ],
    queries: [
      { id: '1', text: 'what lift is there .' },
      { id: '2', text: 'what drag' },
    ],
    judgements: new Map([
      ['1', new Map([['1', 4]])],
      ['2', new Map([['2', 1]])],
    ]),
  })
})

test('the other collections in the form of SMART have pairs of numbers, or the columns of TREC, as judgements', async () => {
  const documents = '.I 1\n.T\nIndexing\n.A\nSomebody\n.W\nby hand\n.X\n1\t5\t1\n.I 2\n.W\nby machine\n'
  const expected = {
    name: 'little',
    documents: [
      { id: '1', title: 'Indexing', text: 'by hand' },
      { id: '2', title: '', text: 'by machine' },
    ],
    queries: [{ id: '1', text: 'Who indexes?' }],
    judgements: new Map([['1', new Map([['2', 1]])]]),
  }
  const queries = '.I 1\n.W\n Who indexes?\n.N\n a note\n'
  const cacm = { 'cacm.all': documents, 'query.text': queries, 'qrels.text': '01 02  0 0\n' }
  expect(await readCollection(folderOf(cacm))).toEqual(expected)
  const med = { 'MED.ALL': documents, 'MED.QRY': queries, 'MED.REL': '1 0 2 1\n' }
  expect(await readCollection(folderOf(med))).toEqual(expected)
})

test('TIME counts articles by their order, the two that are lost included', async () => {
  const files = {
    'TIME.ALL':
      '*TEXT 503  11/15/63  PAGE 045\n\nONE\n\nTWO\n*TEXT 504 11/15/63\nTHREE\n*TEXT 507 11/15/63\nFOUR\n*STOP\n',
    'TIME.QUE': '*FIND      1\n\n KENNEDY .\n\n*FIND     12\n\nNATO\n\n*STOP\n',
    'TIME.REL': '1  1 5\n\n12 2\n',
  }
  const { documents, queries, judgements } = await readCollection(folderOf(files))
  expect(documents).toEqual([
    { id: '1', title: '', text: 'ONE TWO' },
    { id: '2', title: '', text: 'THREE' },
    { id: '5', title: '', text: 'FOUR' },
  ])
  expect(queries).toEqual([
    { id: '1', text: 'KENNEDY .' },
    { id: '12', text: 'NATO' },
  ])
  expect([...(judgements.get('1') ?? [])]).toEqual([
    ['1', 1],
    ['5', 1],
  ])
})

test('NPL has numbers and texts with slashes between', async () => {
  const files = {
    'doc-text': '1\ncompact\nmemories\n   /\n2\nlenses\n   /\n',
    'query-text': '1\nMEMORIES\n/\n',
    'rlv-ass': '1\n    1     2\n   /\n',
  }
  expect(await readCollection(folderOf(files))).toEqual({
    name: 'little',
    documents: [
      { id: '1', title: '', text: 'compact memories' },
      { id: '2', title: '', text: 'lenses' },
    ],
    queries: [{ id: '1', text: 'MEMORIES' }],
    judgements: new Map([
      [
        '1',
        new Map([
          ['1', 1],
          ['2', 1],
        ]),
      ],
    ]),
  })
})

test('LISA has its documents in several files, some of them twice', async () => {
  const end = '*'.repeat(44)
  const files = {
    'LISA0.001': `Document    1\r\nLIBRARIES IN\r\nINDIA.\r\n     \r\nA PROPOSAL.\r\n${end}\r\nDocument    2\r\nTWO.\r\n\r\nMORE.\r\n${end}\r\n`,
    'LISA0.501': `Document    2\r\nTWO.\r\n\r\nMORE.\r\n${end}\r\n`,
    'LISA.QUE': '1\r\nI ASK\r\nFOR INDIA. #\r\n2\r\nNOTHING. #\r\n',
    'LISARJ.NUM': '      1        2       1     2        \r\n',
  }
  expect(await readCollection(folderOf(files))).toEqual({
    name: 'little',
    documents: [
      { id: '1', title: 'LIBRARIES IN INDIA.', text: 'A PROPOSAL.' },
      { id: '2', title: 'TWO.', text: 'MORE.' },
    ],
    queries: [{ id: '1', text: 'I ASK FOR INDIA.' }],
    judgements: new Map([
      [
        '1',
        new Map([
          ['1', 1],
          ['2', 1],
        ]),
      ],
    ]),
  })
})

test('the grade of a document in the cystic fibrosis database is the sum of four', async () => {
  const files = {
    cf74: 'PN 74001\nRN 00001 \nTI Mucus\n   in lungs.\nAB One\n   two.\nRF 001 BELFRAGE\n\nPN 74002\nRN 00002\nTI Salt.\nEX An extract.\n',
    cfquery: 'QN 00001\nQU What is\n   salt?\nNR 00002\nRD    1 0010    2 2221\n \n',
  }
  expect(await readCollection(folderOf(files))).toEqual({
    name: 'little',
    documents: [
      { id: '1', title: 'Mucus in lungs.', text: 'One two.' },
      { id: '2', title: 'Salt.', text: 'An extract.' },
    ],
    queries: [{ id: '1', text: 'What is salt?' }],
    judgements: new Map([
      [
        '1',
        new Map([
          ['1', 1],
          ['2', 7],
        ]),
      ],
    ]),
  })
})

test('a folder that is no collection is refused, with what would make it one', async () => {
  await expect(readCollection(folderOf({ 'README.md': '' }))).rejects.toThrow('corpus.jsonl')
})

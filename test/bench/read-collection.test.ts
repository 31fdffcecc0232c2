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

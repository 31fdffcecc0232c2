import { bm25Peer } from './bm25-peer.ts'
import { evaluate } from './evaluate.ts'
import { measureFeedback, noFeedback } from './feedback-settings.ts'
import { fts5Peer } from './fts5-peer.ts'
import { type Compared, leaveOneOut, type Measured } from './leave-one-out.ts'
import { minisearchPeer } from './minisearch-peer.ts'
import { productRanker } from './product-ranker.ts'
import type { Ranker } from './ranker.ts'
import { readCollection } from './read-collection.ts'

const leaveOut = '--leave-one-out'
const [first, ...rest] = process.argv.slice(2)
if (first === undefined || (first === leaveOut && rest.length < 3)) {
  console.error('Usage: npm run bench:quality -- DIR [DIR…], each a test collection (see docs/benchmarks.md).')
  console.error(`       npm run bench:quality -- ${leaveOut} DIR DIR DIR…, to choose the parameters of feedback.`)
  process.exitCode = 1
} else if (first === leaveOut) {
  await chooseFeedback(rest)
} else {
  await compareRankers([first, ...rest])
}

async function compareRankers(folders: readonly string[]): Promise<void> {
  const rankers: Ranker[] = [
    productRanker('minisearch'),
    productRanker('segments'),
    fts5Peer(),
    bm25Peer(),
    minisearchPeer(),
  ]
  for (const folder of folders) {
    const collection = await readCollection(folder)
    const { name, documents, queries } = collection
    console.log(`\n## ${name}: ${documents.length} documents, ${queries.length} queries\n`)
    console.log('| ranking | nDCG@10 | Recall@100 | timed out |\n| --- | --- | --- | --- |')
    for (const ranker of rankers) {
      const { ndcg10, recall100, timedOut } = await evaluate(ranker, collection)
      console.log(`| ${ranker.name} | ${ndcg10.toFixed(3)} | ${recall100.toFixed(3)} | ${timedOut} |`)
    }
  }
}

async function chooseFeedback(folders: readonly string[]): Promise<void> {
  const ranker = productRanker('minisearch')
  const measured: Measured[] = []
  for (const folder of folders) measured.push(await measureFeedback(ranker, await readCollection(folder)))
  const timedOut = measured
    .flatMap(({ settings }) => [...settings.values()].flat())
    .filter((query) => query.timedOut).length
  const { folds, overall } = leaveOneOut(measured, noFeedback)
  console.log('| left out | chosen on the others: pages, decay, weight | nDCG@10 | p | Recall@100 | p |')
  console.log('| --- | --- | --- | --- | --- | --- |')
  for (const { name, setting, ndcg10, recall100 } of folds) {
    console.log(`| ${name} | ${setting} | ${compared(ndcg10)} | ${compared(recall100)} |`)
  }
  console.log(`| mean | | ${compared(overall.ndcg10)} | ${compared(overall.recall100)} |`)
  console.log(`\nChosen on all: ${overall.setting}. Timed out: ${timedOut}.`)
}

function compared({ baseline, chosen, p }: Compared): string {
  const difference = chosen - baseline
  const sign = difference < 0 ? '−' : '+'
  return `${baseline.toFixed(3)} → ${chosen.toFixed(3)} (${sign}${Math.abs(difference).toFixed(4)}) | ${p.toFixed(4)}`
}

import { IndexClient } from './index-client.ts'
import { pageOf } from './versioned-page.ts'

/** Changes, saves and reopens an index until it is killed: DIRECTORY minisearch|sqlite. */
const [, , directory = '', engine] = process.argv
const client = new IndexClient(directory, { engine: engine === 'segments' ? 'segments' : 'minisearch' })
client.versions()
console.log('ready')
for (let round = 0; ; round++) {
  const keys = new Set(Array.from({ length: 1 + (round % 15) }, (_, n) => `h_${(round * 7 + n * 3) % 60}`))
  const put = Array.from(keys, (key) => pageOf(`${key} ${Date.now() + round}`))
  client.apply({ put, remove: [`h_${(round * 11) % 60}`] })
  if (round % 5 === 0) {
    client.close()
    client.versions()
  }
}

import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { dismissCandidate } from '../../src/queue/decide-candidate.ts'
import { ganglion, main } from '../cli/support.ts'
import { candidate, correction } from '../kb/support/test-bed.ts'
import { holders, newHouse } from '../operate/erase/support/erasure-house.ts'
import { startNode } from '../support/process.ts'
import { tempDir } from '../support/temp.ts'
import { scaled } from './support/cycles.ts'

const needles = ['Xanadu', 'Quist']
const pages = 40
/** The command says each step when it is done; "" is before the first. */
const steps = ['', 'is written', 'is decided', 'is in place', 'is removed', 'is rewritten']
/** Milliseconds after a step. */
const longest = 300

/** A data directory with a page that is to go, of several versions, and others beside it. */
async function newData() {
  const house = await newHouse()
  const seqIds: string[] = []
  for (let n = 0; n < pages; n++) {
    const page =
      n === 0 ? { title: 'Quist', content: 'Quist lives in Xanadu.' } : { title: `Page ${n}`, content: `Of ${n}.` }
    seqIds.push(Object(await house.approve(await house.propose(candidate(page)))).seqId)
  }
  const [erased = '', kept = ''] = seqIds
  await house.approve(await house.propose(correction(erased, 'Xanadu is far.', { title: 'Quist' })))
  await house.approve(await house.propose(correction(kept, 'Of 1, once more.', { title: 'Page 1' })))
  const refused = await house.propose(correction(erased, 'Xanadu again.', { title: 'Quist' }))
  await dismissCandidate(house.ctx(), house.curator, refused, { reason: 'Quist said no.' })
  await house.propose(correction(erased, 'Xanadu waits.', { title: 'Quist' }))
  await house.close()
  return { dataDir: house.dataDir, erased, kept }
}

/** Kills a command at some moment after a step. @returns whether it lived until the step */
async function killed(args: string[], step: string): Promise<void> {
  const child = startNode([main, ...args], {})
  const gone = once(child, 'exit')
  let said = ''
  const reached = new Promise<void>((resolve) => {
    if (step === '') resolve()
    child.stderr?.on('data', (bytes: Buffer) => {
      said += bytes.toString()
      if (said.includes(step)) resolve()
    })
  })
  await Promise.race([reached, gone])
  // The first step takes as long as a start.
  await Promise.race([delay(Math.random() * longest * (step === '' ? 8 : 1)), gone])
  child.kill('SIGKILL')
  await gone
}

test('an erasure that is killed at any moment has not begun, or is finished, and loses nothing else', async () => {
  const { dataDir, erased, kept } = await newData()
  const before = await newHouse({ dataDir })
  const [ofKept, ofErased] = [await before.told(kept), await before.told(erased)]
  await before.close()
  const found = { untouched: 0, resumed: 0, whole: 0 }
  for (let round = 0; round < scaled(100); round++) {
    const data = join(tempDir(), 'data')
    cpSync(dataDir, data, { recursive: true })
    const erase = ['erase', '--kb', 'handbook', '--neuron', erased, '--data', data]
    await killed(erase, steps[round % steps.length] ?? '')
    // Whoever finishes it may be killed, too.
    if (round % 4 === 3) await killed(['erase', '--resume', '--data', data], '')
    const resumed = await ganglion(['erase', '--resume', '--data', data, '--json'])
    expect([round, resumed.code, resumed.stderr.match(/Error/)]).toEqual([round, 0, null])
    const house = await newHouse({ dataDir: data })
    const told = await house.told(erased)
    const isUntouched = JSON.stringify(told) === JSON.stringify(ofErased)
    await house.close()
    if (isUntouched) {
      found.untouched++
      expect(await ganglion(erase)).toMatchObject({ code: 0 })
    } else if (JSON.parse(resumed.stdout).wasCutOff) found.resumed++
    else found.whole++
    const after = await newHouse({ dataDir: data })
    expect(await after.told(kept)).toEqual(ofKept)
    expect((await after.told(erased)).map(({ version, text }) => [version, text?.includes('was erased')])).toEqual(
      ofErased.map(({ version }) => [version, true]),
    )
    const { projection } = await after.ctx().kb(after.tenantId, 'handbook')
    expect(
      projection.read.all`SELECT status, count(*) AS count FROM candidates GROUP BY status ORDER BY status`,
    ).toEqual([
      { status: 'approved', count: pages + 2 },
      { status: 'dismissed', count: 2 },
    ])
    await after.sound()
    await after.close()
    expect([round, ...holders(data, after.gitDir, needles)]).toEqual([round])
    rmSync(data, { recursive: true })
  }
  process.stdout.write(`${scaled(100)} erasures killed: ${JSON.stringify(found)}\n`)
})

import { expect, test } from 'vitest'
import { candidate } from '../../kb/support/test-bed.ts'
import { testServer } from '../support/test-server.ts'

test('one caller who explains many pages at once holds up no other', async () => {
  const { request } = await testServer()
  // It takes so long to explain that all others wait meanwhile. Asked from its end, it has an answer that takes no time to write.
  const content = 'a.\n'.repeat(100_000)
  const end = content.length - 30
  const body = candidate({ title: 'Long page', content, confidence: 1 })
  const { json } = await request('POST', '/api/v1/queue/candidates', { as: 'app', body })
  const { seqId } = json as { seqId: string }
  const done: string[] = []
  const blame = async (as: 'reader' | 'app', start: number) => {
    const { status } = await request('GET', `/api/v1/neurons/handbook/${seqId}/blame?start=${start}`, { as })
    done.push(`${as} ${status}`)
  }
  await Promise.all([...Array.from({ length: 8 }, (_, n) => blame('app', end + n)), blame('reader', end)])
  expect(done).toHaveLength(9)
  // In the order of arrival it would be the last.
  expect(done.indexOf('reader 200')).toBeLessThanOrEqual(2)
})

import { expect, test } from 'vitest'
import { encodePacket, flushPacket } from '../../../src/git/serve/pkt-line.ts'
import { hostilePack } from '../../git/support/hostile-pack.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { Clone, page } from './git-clone.ts'
import { soundProduct } from './git-support.ts'

test.each(['refs/heads/main', 'refs/for/main'])('only a commit can be pushed to %s', async (ref) => {
  const product = await soundProduct()
  const clone = await Clone.of(product, product.tokens.curator)
  await clone.commit({ 'neurons/new.md': page('New', 'Something new.') })
  await clone.git('tag', '-a', '-m', 'A tag', 'v1')
  for (const [revision, type] of [
    ['HEAD:neurons/new.md', 'blob'],
    ['HEAD^{tree}', 'tree'],
    ['v1', 'tag'],
  ]) {
    const tip = await clone.git('rev-parse', `${revision}`)
    const { code, stderr } = await clone.push('--force', `${tip}:${ref}`)
    const reason = `remote: ${ref}: only a commit can be pushed, and ${tip.slice(0, 7)} is a ${type}`
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason)])
  }
  const main = nativeGit(product.gitDir, ['rev-parse', 'main'])
  const from = ref === 'refs/for/main' ? '0'.repeat(40) : main
  const command = encodePacket(`${from} ${'1'.repeat(40)} ${ref}\0report-status`)
  const answer = await fetch(`${product.url}/git/acme/handbook.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${product.tokens.curator}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: Buffer.concat([command, flushPacket, hostilePack([])]),
  })
  expect(await answer.text()).toContain(`ng ${ref} missing necessary objects`)
})

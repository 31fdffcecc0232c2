import { fc } from '../support/properties.ts'

const word = fc.constantFrom('ant', 'bee', 'crow', 'deer', 'éland', 'fox', 'gnu', 'hare', '漢字', 'ibis')
const wordsOf = (minLength: number, maxLength: number) =>
  fc.array(word, { minLength, maxLength, size: 'max' }).map((words) => words.join(' '))
const sentence = wordsOf(1, 30).chain((text) =>
  fc.constantFrom(`${text}.`, `**${text}.**`, `*${text}* ant.`, `\`${text}\``, `[${text}](/u) *bee*.`, `${text}:`),
)
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 20, size: 'max' }).map((all) => all.join(' '))
const lines = fc.array(wordsOf(1, 12), { minLength: 1, maxLength: 60, size: 'max' })
const code = fc
  .tuple(fc.constantFrom('```', '~~~~'), fc.constantFrom('', 'ts', 'sh title="a b"'), lines, fc.boolean())
  .map(([fence, info, all, isIndented]) =>
    [fence + info, ...all.map((line) => (isIndented ? `  ${line}` : line)), fence].join('\n'),
  )
const cell = fc.oneof({ weight: 5, arbitrary: wordsOf(1, 12) }, wordsOf(150, 250), fc.constant(''))
const table = fc
  .array(fc.tuple(cell, cell, cell), { maxLength: 30, size: 'max' })
  .map((rows) =>
    ['| one | *two* | three |', '|:--|---|--:|', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n'),
  )

const { block } = fc.letrec<{ block: string; item: string }>((tie) => ({
  item: fc
    .tuple(paragraph, fc.array(tie('block'), { maxLength: 2 }))
    .map(([first, others]) => [first, ...others].join('\n\n')),
  block: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    paragraph,
    code,
    table,
    tie('block').map((text) => text.replace(/^/gm, '> ')),
    fc
      .tuple(fc.constantFrom('- ', '12. '), fc.array(tie('item'), { minLength: 1, maxLength: 5 }))
      .map(([marker, items]) =>
        items.map((text) => marker + text.replace(/\n(?=.)/g, `\n${' '.repeat(marker.length)}`)).join('\n'),
      ),
  ),
}))

/** Pages of blocks in one another that are well formed, and are longer than a chunk. */
export const pageOfBlocks = fc
  .array(fc.oneof({ weight: 4, arbitrary: block }, fc.constant('## Ant')), { minLength: 1, maxLength: 4 })
  .map((blocks) => blocks.join('\n\n'))

import { expect, test } from 'vitest'
import { engines } from '../engine-support.ts'
import { curator, newIndex, page } from '../support.ts'

/** Pages beside the one that is sought: so many that no word of theirs is rare. */
const others = Array.from({ length: 8 }, (_, n) =>
  page(`o_${n}`, 'The login boards a device of your own for hours, in version 3.1.4 of 2 October 1999, not before.'),
)

test.each([
  ['en', '🚀', 'We ship it 🚀 today', true],
  ['en', '👍', 'Done 👍🏽', true],
  ['en', '🚀', 'We ship it 🎉 today', false],
  ['en', 'ship 🚀', 'We ship it today', true],
  ['en', 'dont', "You don't panic at night", true],
  ['en', 'dont panic', 'Never panic at night', true],
  ['en', "can't panic", 'You cant panic at night', true],
  ['en', 'équipe', 'Toute L’équipe est là', true],
  ['en', 'accord', 'On est d’accord', true],
  ['en', 'well', 'Perhaps we’ll see', false],
  ['en', '3.14', 'Pi is 3.14 here', true],
  ['en', '3,14', 'Pi is 3.14 here', true],
  ['en', '3.14', 'Pi is 3, and 15.14 is not', false],
  ['en', 'on boarding', 'The onboarding takes a week', true],
  ['en', 'onboarding', 'The on boarding takes a week', true],
  ['en', 'is landing', 'The islanding takes a week', false],
  ['ko', '데이터베이스', '데이터 베이스 설정', true],
  ['ko', '데이터 베이스', '데이터베이스 설정', true],
  ['ko', '휴가신청', '휴가 신청은 여기', true],
  ['ja', 'サーバー', 'サーバの設定', true],
  ['ja', 'コンピュータ', 'コンピューターを使う', true],
  ['ja', 'ウェブ', 'ウエブの設定', true],
  ['ja', 'りんご', 'リンゴを食べる', true],
  ['zh', '電腦', '我的电脑坏了', true],
  ['en', '数据库', '數據庫設置', true],
  ['hi', 'हिंदी', 'यह हिन्दी है', true],
  ['hi', 'चाँद', 'चांद निकला', true],
  ['en', 'كتاب', 'هذا الكتاب جديد', true],
  ['ar', 'قناة', 'كل القنوات هنا', true],
  ['ar', 'مستوى', 'المستويات العليا', true],
  ['ar', 'مستخدم', 'على المستخدمين الدخول', true],
])('%s: %s in %s: %s', (language, q, text, isFound) => {
  for (const engine of engines) {
    const index = newIndex(engine, [page('x_1', text), ...others], undefined, language)
    const { hits, matched } = index.search(q, curator)
    expect(matched === 'all' && hits.some(({ key }) => key === 'x_1'), engine).toBe(isFound)
  }
})

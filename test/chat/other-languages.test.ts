import { expect, test } from 'vitest'
import { analyserFor } from '../../src/search/text/analyser.ts'
import { extractAnswerer } from './support/extract-answerer.ts'
import { ask, passage, question } from './support/passages.ts'

type Handbook = {
  language: string
  pages: readonly string[]
  asked: readonly (readonly [ask: string, says?: string])[]
}

/** Small handbooks; a question without an answer is not answered in them. */
const handbooks: readonly Handbook[] = [
  {
    language: 'de',
    pages: [
      'Erstattungen\nErstattungen über 200 Euro genehmigt die Leitung der Finanzen. Das Geld kommt nach fünf Werktagen an.',
      'Urlaub\nJeder Mitarbeiter hat 30 Tage Urlaub im Jahr. Urlaub wird im Kalender beantragt. Resturlaub verfällt am 31. März.',
      'Sicherungen\nDie Datenbank wird jede Nacht um zwei Uhr gesichert. Sicherungen werden 35 Tage aufbewahrt.',
      'Parkplatz\nBesucher dürfen nicht in der Tiefgarage parken. Fahrräder stehen im Hof.',
    ],
    asked: [
      ['Wer genehmigt Erstattungen über 200 Euro?', 'Leitung der Finanzen'],
      ['Wann kommt das Geld einer Erstattung an?', 'fünf Werktagen'],
      ['Wie viele Tage Urlaub hat ein Mitarbeiter im Jahr?', '30 Tage'],
      ['Wo wird Urlaub beantragt?', 'Kalender'],
      ['Wann verfällt der Resturlaub?', '31. März'],
      ['Wann wird die Datenbank gesichert?', 'zwei Uhr'],
      ['Wie lange werden Sicherungen aufbewahrt?', '35 Tage'],
      ['Dürfen Besucher in der Tiefgarage parken?', 'nicht in der Tiefgarage'],
      ['Wer hat den Parkplatz gebaut?'],
      ['Wie hoch ist das Gehalt der Leitung?'],
      ['Darf ich meinen Hund ins Büro mitbringen?'],
      ['Welche Farbe hat das Logo?'],
    ],
  },
  {
    language: 'es',
    pages: [
      'Reembolsos\nLa dirección de finanzas aprueba los reembolsos de más de 200 euros. El dinero llega en cinco días laborables.',
      'Vacaciones\nCada empleado tiene 30 días de vacaciones al año. Las vacaciones se piden en el calendario.',
      'Copias de seguridad\nLa base de datos se copia cada noche a las dos. Las copias se guardan 35 días.',
      'Aparcamiento\nLos visitantes no pueden aparcar en el garaje. Las bicicletas se dejan en el patio.',
    ],
    asked: [
      ['¿Quién aprueba los reembolsos de más de 200 euros?', 'dirección de finanzas'],
      ['¿Cuándo llega el dinero?', 'cinco días'],
      ['¿Cuántos días de vacaciones tiene un empleado?', '30 días'],
      ['¿Dónde se piden las vacaciones?', 'calendario'],
      ['¿Cuándo se copia la base de datos?', 'a las dos'],
      ['¿Cuánto tiempo se guardan las copias?', '35 días'],
      ['¿Pueden aparcar los visitantes en el garaje?', 'no pueden aparcar'],
      ['¿Dónde se dejan las bicicletas?', 'patio'],
      ['¿Quién construyó el aparcamiento?'],
      ['¿De qué color es el logotipo?'],
      ['¿Puedo traer mi perro a la oficina?'],
      ['¿Cuál es el sueldo de la dirección?'],
    ],
  },
  {
    language: 'fr',
    pages: [
      'Remboursements\nLa direction financière approuve les remboursements de plus de 200 euros. L’argent arrive après cinq jours ouvrables.',
      'Congés\nChaque employé a 30 jours de congé par an. Les congés se demandent dans le calendrier.',
      'Sauvegardes\nLa base de données est sauvegardée chaque nuit à deux heures. Les sauvegardes sont gardées 35 jours.',
      'Stationnement\nLes visiteurs ne peuvent pas stationner dans le garage. Les vélos restent dans la cour.',
    ],
    asked: [
      ['Qui approuve les remboursements de plus de 200 euros ?', 'direction financière'],
      ['Quand arrive l’argent ?', 'cinq jours'],
      ['Combien de jours de congé a un employé par an ?', '30 jours'],
      ['Où demande-t-on les congés ?', 'calendrier'],
      ['Quand la base de données est-elle sauvegardée ?', 'deux heures'],
      ['Combien de temps les sauvegardes sont-elles gardées ?', '35 jours'],
      ['Les visiteurs peuvent-ils stationner dans le garage ?', 'ne peuvent pas stationner'],
      ['Où restent les vélos ?', 'cour'],
      ['Qui a construit le garage ?'],
      ['De quelle couleur est le logo ?'],
      ['Puis-je amener mon chien au bureau ?'],
      ['Quel est le salaire de la direction ?'],
    ],
  },
  {
    language: 'ja',
    pages: [
      '返金\n200ユーロを超える返金は財務部長が承認します。お金は5営業日で届きます。',
      '休暇\n社員の休暇は年に30日です。休暇はカレンダーで申請します。',
      'バックアップ\nデータベースは毎晩2時にバックアップされます。バックアップは35日間保存されます。',
      '駐車場\n来客はガレージに駐車できません。自転車は中庭に置きます。',
    ],
    asked: [
      ['200ユーロを超える返金は誰が承認しますか？', '財務部長'],
      ['お金はいつ届きますか？', '5営業日'],
      ['社員の休暇は年に何日ですか？', '30日'],
      ['休暇はどこで申請しますか？', 'カレンダー'],
      ['データベースはいつバックアップされますか？', '2時'],
      ['バックアップは何日間保存されますか？', '35日間'],
      ['来客はガレージに駐車できますか？', '駐車できません'],
      ['自転車はどこに置きますか？', '中庭'],
      ['ロゴの色は何ですか？'],
      ['犬を会社に連れて来てもいいですか？'],
      ['社長の給料はいくらですか？'],
      ['会社を設立したのは誰ですか？'],
    ],
  },
  {
    language: 'zh',
    pages: [
      '退款\n超过200欧元的退款由财务主管批准。款项在五个工作日内到账。',
      '休假\n每位员工每年有30天休假。休假在日历中申请。',
      '备份\n数据库每晚两点备份。备份保存35天。',
      '停车\n访客不得在车库停车。自行车放在院子里。',
    ],
    asked: [
      ['超过200欧元的退款由谁批准？', '财务主管'],
      ['款项什么时候到账？', '五个工作日'],
      ['员工每年有多少天休假？', '30天'],
      ['休假在哪里申请？', '日历'],
      ['数据库什么时候备份？', '两点'],
      ['备份保存多久？', '35天'],
      ['访客可以在车库停车吗？', '不得在车库停车'],
      ['自行车放在哪里？', '院子里'],
      ['标志是什么颜色？'],
      ['我可以带狗来办公室吗？'],
      ['总经理的工资是多少？'],
      ['公司是谁创立的？'],
    ],
  },
]

/** The pages that share terms with a question, by how many. */
function retrieved({ language, pages }: Handbook, message: string) {
  const analyser = analyserFor(language)
  const termsOf = (text: string) => new Set(analyser.tokens(text).map(({ term }) => term))
  const asked = termsOf(message)
  const found = pages.flatMap((page, at) => {
    const [title = '', content = ''] = page.split('\n')
    const shared = termsOf(page).intersection(asked).size
    return shared === 0 ? [] : [{ shared, passage: passage({ seqId: `kb_0000000${at + 1}`, title, content }) }]
  })
  const most = Math.max(...found.map(({ shared }) => shared))
  return found
    .toSorted((a, b) => b.shared - a.shared)
    .map(({ shared, passage: one }) => ({ ...one, rank: shared / most }))
}

test.each(handbooks)('in $language nothing wrong is answered', async (handbook) => {
  const { language } = handbook
  const answers = await Promise.all(
    handbook.asked.map(async ([message, says]) => {
      const passages = retrieved(handbook, message)
      const { answer } = await ask(extractAnswerer, question({ message, passages, language }))
      return { message, says, text: answer.text, isRefused: answer.cited.length === 0 }
    }),
  )
  const wrong = answers.filter(
    ({ says, text, isRefused }) => !isRefused && (says === undefined || !text.includes(says)),
  )
  expect(wrong).toEqual([])
  // Two characters of Chinese are a term, and a question shares few of them with its answer.
  expect(answers.filter(({ isRefused }) => !isRefused).length).toBeGreaterThanOrEqual(language === 'zh' ? 0 : 4)
})

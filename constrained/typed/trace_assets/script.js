const trace = JSON.parse(document.getElementById('data').textContent);
const steps = trace.steps, dark = matchMedia('(prefers-color-scheme: dark)').matches;
const make = (tag, text, cls) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls; return e; };
const percent = p => p >= 0.9995 ? '100 %' : p >= 0.01 ? (100 * p).toFixed(1) + ' %' : p === 0 ? '0' : (100 * p).toPrecision(2) + ' %';
const shown = text => text === '' ? '\u2205' : text.replace(/\n/g, '\u21b5').replace(/\t/g, '\u21e5').replace(/ /g, '\u00b7');
const colour = p => { const x = Math.max(0, Math.min(1, 1 + Math.log10(Math.max(p, 1e-3)) / 3));
  return dark ? `hsl(${8 + 132 * x} 40% 29%)` : `hsl(${8 + 132 * x} 62% 78%)`; };
document.getElementById('prompt').textContent = trace.prompt;
const strip = document.getElementById('strip'), time = document.getElementById('time'), detail = document.getElementById('detail');
const slowest = Math.max(1e-9, ...steps.map(s => s.seconds));
const spans = [];
let at = -1;
steps.forEach((step, i) => {
  const news = step.wanted.length && !step.wanted[0].allowed;
  const marked = text => text.replace(/\n/g, '\u21b5\n');
  const span = make('span', marked(step.text) || '\u2205', (step.forced ? 'forced ' : '') +
    (step.steered ? 'steered ' : '') + (step.thinking ? 'thought ' : '') + (news ? 'news' : ''));
  if (step.before) strip.append(make('em', marked(step.before)));
  span.style.background = colour(step.probability);
  span.title = `${percent(step.probability)} under the mask, ${percent(step.raw_probability)} before`;
  span.onclick = () => select(i);
  spans.push(span);
  strip.append(span);
  const bar = make('i'), mask = make('b');
  bar.style.height = Math.max(1, 90 * step.seconds / slowest) + 'px';
  mask.style.height = Math.min(100, 100 * step.mask_seconds / Math.max(step.seconds, 1e-9)) + '%';
  bar.title = `${(1e3 * step.seconds).toFixed(2)} ms, mask ${(1e6 * step.mask_seconds).toFixed(1)} \u00b5s`;
  bar.onclick = () => select(i);
  bar.append(mask);
  time.append(bar);
});
function table(rows, scale) {
  const t = make('table');
  for (const row of rows) {
    const tr = make('tr', undefined, row.allowed === false ? 'no' : '');
    if (row.label !== undefined) tr.append(make('td', row.label, 'dim'));
    tr.append(make('td', shown(row.text), 't'), make('td', percent(row.probability), 'n'));
    const cell = make('td', undefined, 'g'), bar = make('div');
    bar.style.width = 100 * row.probability / scale + '%';
    cell.append(bar); tr.append(cell); t.append(tr);
  }
  return t;
}
function sampler(step) {
  const t = make('table', undefined, 'stages'), head = make('tr', undefined, 'dim');
  ['stage', 'left', 'removed', 'this token'].forEach((name, k) => head.append(make('td', name, k ? 'n' : '')));
  t.append(head);
  const first = {name: 'mask', kept: step.allowed, removed_mass: step.removed_mass, probability: step.probability, top: step.alternatives};
  for (const stage of [first, ...step.stages]) {
    const tr = make('tr');
    tr.append(make('td', stage.name), make('td', stage.kept.toLocaleString('en'), 'n'),
      make('td', stage.removed_mass ? percent(stage.removed_mass) : '', 'n'), make('td', percent(stage.probability), 'n'));
    tr.title = 'likeliest: ' + stage.top.map(c => `${shown(c.text)} ${percent(c.probability)}`).join(', ');
    t.append(tr);
  }
  return t;
}
function select(i) {
  if (i < 0 || i >= steps.length) return;
  if (at >= 0) { spans[at].classList.remove('on'); time.children[at].classList.remove('on'); }
  at = i; spans[i].classList.add('on'); time.children[i].classList.add('on');
  const step = steps[i];
  detail.replaceChildren(make('h3', shown(step.text)), make('div', `token ${i + 1} of ${steps.length}, id ${step.token_id}` +
    (step.forced ? ', forced by the grammar' : ''), 'dim'));
  const facts = make('table');
  const fact = (name, value) => { const tr = make('tr'); tr.append(make('td', name, 'dim'), make('td', value)); facts.append(tr); };
  fact('under the mask', percent(step.probability));
  fact('before the mask', percent(step.raw_probability));
  fact('mass removed', percent(step.removed_mass));
  fact('tokens allowed', `${step.allowed.toLocaleString('en')} of ${trace.vocab_size.toLocaleString('en')}`);
  if (step.rules.length) fact('rules here', step.rules.slice(0, 8).join(', ') + (step.rules.length > 8 ? ' \u2026' : ''));
  if (step.steered) fact('token limit', 'took this token so that the text can still end whole');
  if (step.thinking) fact('think section', 'no grammar holds it');
  if (step.before) fact('before it', 'the library wrote ' + shown(step.before));
  if (step.complete) fact('end', 'the text could have ended here');
  fact('time', `${(1e3 * step.seconds).toFixed(2)} ms, mask ${(1e6 * step.mask_seconds).toFixed(1)} \u00b5s`);
  detail.append(facts, make('h2', 'Likeliest under the mask'), table(step.alternatives, 1));
  detail.append(make('h2', 'What the model wanted'), table(step.wanted, 1));
  if (step.stages.length === 1 && step.stages[0].name === 'greedy') fact('sampler', 'greedy: the likeliest');
  else if (step.stages.length) {
    const last = step.stages[step.stages.length - 1];
    detail.append(make('h2', 'What the sampler made of it'), sampler(step));
    if (last.name !== 'greedy') detail.append(make('h2', 'Drawn from'), table(last.top, 1));
  }
  if (step.lens.length) {
    detail.append(make('h2', 'What each layer would have said'));
    detail.append(table(step.lens.map((c, k) => ({label: 'layer ' + trace.layers[k], text: c.text, probability: c.probability})), 1));
  }
}
document.addEventListener('keydown', e => {
  const move = {ArrowRight: 1, ArrowLeft: -1, Home: -steps.length, End: steps.length}[e.key];
  if (!move) return;
  e.preventDefault();
  select(Math.max(0, Math.min(steps.length - 1, at + move)));
});
const first = steps.findIndex(s => s.wanted.length && !s.wanted[0].allowed);
select(first >= 0 ? first : 0);

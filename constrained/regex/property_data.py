"""Properties that Python has no table for, out of the Unicode Character Database 18.0.0. Do not edit.

Written by ``tests/regex/make_property_data.py``. A record is the property's names, a colon, and for each of its ranges
two numbers in base 36: how far it begins after the end of the last one, and how many more members it has; lines
that begin with a blank go on. A script extension lists what Scripts.txt does not already give to the script.
Data files copyright Unicode, Inc., under the Unicode License v3 (https://www.unicode.org/license.txt).
"""

from __future__ import annotations

UNICODE_VERSION = "18.0.0"

SCRIPTS = """
Adlm Adlam: 2olc 23 4 9 4 1
Aghb Caucasian_Albanian: 1flc 1f b 0
Ahom Ahom: 1j40 q 2 e 4 m
Arab Arabic: 16o 4 1 5 1 d 1 2 1 v 1 9 b p 1 2z 1 x 28 1b 6o x 5 22 1 s 1bv4 dp 2 3z w f 34 4 1 3q 31f u 1v 5 1 11 1
 f 181s 3 1 q 1 1 1 0 2 0 1 9 1 3 1 0 1 0 6 0 4 0 1 0 1 0 1 2 1 1 1 0 2 0 1 0 1 0 1 0 1 0 1 1 1 0 2 3 1 6 1 3 1 3 1 0
 1 9 1 g 5 2 1 4 1 g 1g 1
Armi Imperial_Aramaic: 1g74 l 1 8
Armn Armenian: 10x 11 1 1j 1chv 4
Avst Avestan: 1gqo 1h 3 6
Bali Balinese: 5c0 24 1 1d
Bamu Bamum: www 2f 124o fs
Bass Bassa_Vah: 1zo0 t 2 5
Batk Batak: 5hc 1f 8 3
Beng Bengali: 1vk 3 1 7 2 1 2 l 1 6 1 0 3 3 2 8 2 1 2 3 8 0 4 1 1 4 2 o 1ii9 1
Berf Beria_Erfe: 20f4 o 2 o
Bhks Bhaiksuki: 1k3k 8 1 18 1 d a s
Bopo Bopomofo: kq 1 93t 16 34 v
Brah Brahmi: 1hq8 25 4 z 9 0
Brai Braille: 7wg 73
Bugi Buginese: 54w r 2 1
Buhd Buhid: 4lc j
Cakm Chakma: 1hxc 1g 1 h
Cans Canadian_Aboriginal: 3y8 hr fk 1x 1ewq f
Cari Carian: 1f34 1c
Cham Cham: xkw 1i 9 d 2 9 2 3
Cher Cherokee: 3vk 2d 2 5 twy 27
Chrs Chorasmian: 1ho0 r
Copt Coptic Qaac: rm d 80g 37 5 6
Cpmn Cypro_Minoan: 1nyo 2q
Cprt Cypriot: 1g5c 5 2 0 1 17 1 1 3 0 2 0
Cyrl Cyrillic: sg 3o 2 4o 4ls a 4g 0 24 0 38n v nr4 2n ham 1 18n4 1p x 0
Deva Devanagari: 1s0 28 4 e 2 p vhc v mio a
Diak Dives_Akuru: 1ji8 6 2 0 2 7 1 1 1 t 1 1 2 b 9 9
Dogr Dogra: 1jb4 1n
Dsrt Deseret: 1fcw 27
Dupl Duployan: 2fpc 2y 5 c 3 8 7 9 2 3
Egyp Egyptian_Hieroglyphs: 1o1s ut a 32y
Elba Elbasan: 1fk0 13
Elym Elymaic: 1hpc m
Ethi Ethiopic: 3k0 20 1 3 2 6 1 0 1 3 2 14 1 3 2 w 1 3 2 6 1 0 1 3 2 e 1 1k 1 3 2 1u 2 v 3 p 546 m 9 6 1 6 1 6 1 6 1
 6 1 6 1 6 1 6 opu 5 2 5 2 5 9 6 1 6 1qk1 6 1 3 1 1 1 e
Gara Garay: 1h6o 11 3 s 8 1
Geor Georgian: 3a8 11 1 0 5 0 2 16 1 3 2a8 16 2 2 37k 11 1 0 5 0
Glag Glagolitic: 8ow 2n 2e1s 6 1 g 2 6 1 1 1 4
Gong Gunjala_Gondi: 1kdc 5 1 1 1 10 1 1 1 5 7 9
Gonm Masaram_Gondi: 1kao 6 1 1 1 17 3 0 1 1 1 8 8 9
Goth Gothic: 1f74 q
Gran Grantha: 1ibk 3 1 7 2 1 2 l 1 6 1 1 1 4 2 8 2 1 2 2 2 0 6 0 5 6 2 6 3 4
Grek Greek: og 3 1 2 2 3 1 0 4 0 1 0 1 2 1 0 1 j 1 1q e f 4yu 4 1e 4 4 4 2c 0 8w l 2 5 2 11 2 5 2 7 1 0 1 0 1 0 1 u 2
 1g 1 e 1 d 2 5 1 i 2 2 1 8 87 0 rb2 0 gyi 26 h 0 155r 1x 2p9 1
Gujr Gujarati: 22p 2 1 8 1 2 1 l 1 6 1 1 1 4 2 9 1 2 1 2 2 0 f 3 2 b 7 6
Gukh Gurung_Khema: 1xq8 1l
Guru Gurmukhi: 1z5 2 1 5 4 1 2 l 1 6 1 1 1 1 1 1 2 0 1 4 4 1 2 2 3 0 7 3 1 0 7 g
Hang Hangul: 3cw 73 5ym 1 75 2l 35 u 1t u nhd s hv 8mb c m 4 1c 7tw u 3 5 2 5 2 5 2 2
Hani Han: 96o p 1 2g c 5x 1b 0 1 0 p 8 e 3 qs 533 1s g73 hkw a5 2 2x n48 1 c 6 sg9 wyn w 3dq 1 4gd 2 5rk f h9 1wi f1
 15u 3t6 5 6jt
Hano Hanunoo: 4kg k
Hatr Hatran: 1gbk i 1 1 5 4
Hebr Hebrew: 13l 1k 6 q 4 5 1cfc p 1 4 1 0 1 1 1 1 1 9
Hira Hiragana: 9j5 2d 6 2 23q9 7y 3 0 e 0 t 2 crx 0
Hluw Anatolian_Hieroglyphs: 1s00 g6
Hmng Pahawh_Hmong: 1zpc 1x a 9 1 6 1 k 5 i
Hmnp Nyiakeng_Puachue_Hmong: 2n0g 18 3 d 2 9 4 1
Hung Old_Hungarian: 1h1c 1e d 1e 7 5
Ital Old_Italic: 1f5s z 9 2
Java Javanese: xhc 25 2 9 4 1
Jurc Jurchen: 26m8 pd e 1e
Kali Kayah_Li: xds 19 1 0
Kana Katakana: 9lt 2h 2 2 6o f 5s 1a 1 2f 14b2 9 1 18 ytu 3 1 6 1 1 1 0 7z 2 1 4 18 0 e 4
Kawi Kawi: 1kow g 1 14 3 s
Khar Kharoshthi: 1gjk 3 1 1 5 7 1 2 1 s 2 2 4 9 7 8
Khmr Khmer: 4n4 2l 2 9 6 9 di v
Khoj Khojki: 1i4g h 1 1a
Kits Khitan_Small_Script: 20o4 0 5cr d6 10 0
Knda Kannada: 2gw c 1 2 1 m 1 9 1 4 2 8 1 2 1 3 7 1 5 2 1 3 2 9 1 2
Krai Kirat_Rai: 205c 1l
Kthi Kaithi: 1hts 1u a 0
Lana Tai_Tham: 55s 1q 1 s 2 a 6 9 6 d
Laoo Lao: 2v5 1 1 0 1 4 1 n 1 0 1 m 2 4 1 0 1 6 1 9 2 3
Latn Latin: 1t p 6 p 1b 0 f 0 5 m 1 u 1 cg 13 4 55n 11 6 1c 5 3 5 c 1 1x 1t 73 a9 0 d 0 g f 3u 1 6 0 r 0 h 14 253 v
 o82 2t 3 2a 4 0 e e mo 16 1 8 1 3 2 1 fpu 6 t6 p 6 p 1lx 5 1 15 1 d 16io 3l e 6 1i 11 2 a
Lepc Lepcha: 5j4 1j 3 e 3 2
Limb Limbu: 4xs u 1 b 4 b 4 0 3 b
Lina Linear_A: 1fr4 8m 9 l a 7
Linb Linear_B: 1ekg b 1 p 1 i 1 1 1 e 2 d y 3e
Lisu Lisu: wk0 1b o8g 0
Lyci Lycian: 1f28 s
Lydi Lydian: 1gdc p 5 0
Mahj Mahajani: 1hzk 12
Maka Makasar: 1ko0 o
Mand Mandaic: 1mo r 2 0
Mani Manichaean: 1gow 12 4 b
Marc Marchen: 1k6o v 2 l 1 d
Medf Medefaidrin: 20cg 2i
Mend Mende_Kikakui: 2oe8 5g 2 f
Merc Meroitic_Cursive: 1ggw n 4 j 2 19
Mero Meroitic_Hieroglyphs: 1gg0 v
Mlym Malayalam: 2kg c 1 2 1 1e 1 2 1 5 4 f 2 p
Modi Modi: 1iww 1w b 9
Mong Mongolian: 4qo 1 2 0 1 j 6 2g 7 16 1e45 c
Mroo Mro: 1zk0 u 1 9 4 1
Mtei Meetei_Mayek: xr4 m 5l 19 2 9
Mult Multani: 1i80 6 1 0 1 3 1 e 1 a
Mymr Myanmar: 35s 4f u9s u 2p v le8 j
Nagm Nag_Mundari: 2nrk 15
Nand Nandinagari: 1jmo 7 2 19 2 a
Narb Old_North_Arabian: 1gn4 v
Nbat Nabataean: 1g8w u 8 8
Newa Newa: 1iio 2j 1 4
Nkoo Nko: 1j4 1m 2 2
Nshu Nushu: 20o1 0 cy6 az
Ogam Ogham: 4g0 s
Olck Ol_Chiki: 5lc 1b
Onao Ol_Onal: 2nyo 16 4 0
Orkh Old_Turkic: 1gxs 20
Orya Oriya: 269 2 1 7 2 1 2 l 1 6 1 1 1 4 2 8 2 1 2 2 5 4 4 1 1 4 2 h
Osge Osage: 1fhs z 4 z
Osma Osmanya: 1fgg t 2 9
Ougr Old_Uyghur: 1hm8 p
Palm Palmyrene: 1g80 v
Pauc Pau_Cin_Hau: 1juo 1k
Pcun Proto_Cuneiform: 1m08 4j
Perm Old_Permic: 1f80 16
Phag Phags_Pa: x8g 1j
Phli Inscriptional_Pahlavi: 1gtc i 5 7
Phlp Psalter_Pahlavi: 1gu8 h 7 3 c 6
Phnx Phoenician: 1gcg r 3 0
Plrd Miao: 20hs 22 4 1k 7 g
Prti Inscriptional_Parthian: 1gsg l 2 7
Rjng Rejang: xf4 z b 0
Rohg Hanifi_Rohingya: 1h4w 13 8 9
Runr Runic: 4gw 22 3 a
Samr Samaritan: 1kw 19 2 e
Sarb Old_South_Arabian: 1gm8 v
Saur Saurashtra: xa8 1x 8 b
Seal Seal: 5csg 8qn
Sgnw SignWriting: 2l8g i3 f 4 1 e
Shaw Shavian: 1ff4 1b
Shrd Sharada: 1i0w 2n 1vk 7
Sidd Siddham: 1itc 1h 2 11
Sidt Sidetic: 1ge8 p
Sind Khudawadi: 1i9c 1m 5 9
Sinh Sinhala: 2o1 2 1 h 3 n 1 8 1 0 2 6 3 0 4 5 1 0 1 7 6 9 2 2 1fcc j
Sogd Sogdian: 1hkg 15
Sogo Old_Sogdian: 1hj4 13
Sora Sora_Sompeng: 1hw0 o 7 9
Soyo Soyombo: 1jrk 2a
Sund Sundanese: 5fk 1r 74 7
Sunu Sunuwar: 1k1s x e 9
Sylo Syloti_Nagri: x6o 18
Syrc Syriac: 1ds d 1 1n 2 2 7k a
Tagb Tagbanwa: 4m8 c 1 2 1 1
Takr Takri: 1j0g 1l 6 9
Tale Tai_Le: 500 t 2 4
Talu New_Tai_Lue: 51c 17 4 p 6 a 3 1
Taml Tamil: 29u 1 1 5 3 2 1 3 3 1 1 0 1 1 3 1 3 2 3 b 4 4 3 2 1 3 2 0 6 0 e k 1ih1 1d d 0
Tang Tangut: 20o0 0 v 5bz e8 w 2n 36
Tavt Tai_Viet: xog 1u o 4
Tayo Tai_Yo: 2o5c u 1 l 8 1
Telu Telugu: 2dc c 1 2 1 m 1 f 2 8 1 2 1 3 7 1 1 2 1 1 2 3 2 9 7 8
Tfng Tifinagh: 8xc 1j 7 1 e 0
Tglg Tagalog: 4jk l 9 0
Thaa Thaana: 1hc 1d
Thai Thai: 2rl 1l 5 r
Tibt Tibetan: 2yo 1z 1 z 4 12 1 z 1 e 1 6 4 1
Tirh Tirhuta: 1im8 1z 8 9
Tnsa Tangsa: 1zlc 26 1 9
Todr Todhri: 1fpc 1f
Tols Tolong_Siki: 1kfk 17 4 9
Toto Toto: 2nbk u
Tutg Tulu_Tigalari: 1if4 9 1 0 2 0 1 11 1 9 1 0 2 0 1 3 1 9 1 1 8 1
Ugar Ugaritic: 1f9c t 1 0
Vaii Vai: wlc 8b
Vith Vithkuqi: 1fn4 a 1 e 1 6 1 1 1 a 1 e 1 6 1 1
Wara Warang_Citi: 1jfk 2a c 0
Wcho Wancho: 2ncw 1l 5 0
Xpeo Old_Persian: 1fa8 z 4 d
Xsux Cuneiform: 1kw0 pl 2u 8z c 2f 4k 1m
Yezi Yezidi: 1hfk 15 1 2 2 1
Yiii Yi: vls wc 3 1i
Zanb Zanabazar_Square: 1jpc 1z
Zinh Inherited Qaai: lc 33 7p 1 ck a q 0 kg 3 3ff 1s db 2 1 c 1 6 4 0 6 0 3 1 5i 1r ek 1 5e w 309 3 2z 1 14kl f g d
 r3 0 6a 0 38a 0 1138 19 2 m dc 1 1q 2 h 7 2 6 u 3 4t 1 h40z 6n
Zyyy Common: 0 1s q 5 q 1a 1 e 1 4 n 0 v 0 ch 12 5 4 2 j 38 0 9 0 6 0 1 0 hp 0 6 0 e 0 3 0 w 0 4c 0 ec 0 3l 1 yh 0 b9
 3 82 0 167 2 1z 1 5n 1 1 0 y5 0 d 0 7 3 1 5 1 2 2 0 lh b 2 2e 1 a 3 a 1 f g 10 1n 11 1 2 2 5 1 q 1 g 15 2 4 ih m a l
 pr 74 hf 2 3t e8 2l 2 3 b0 k 1 0 1 o f 7 4 3 2j 1 3 0 2i 1 43 f w 11 9 0 1c 1r v 28 1b 0 2g 4n 534 1r hkw x 2u 2 4l 9
 6s 0 4g 0 az 0 e 1 g5u 1 5s 9 m y 1 i 1 3 43 0 1 v q 5 q a a 0 19 1 1s 6 1 6 a 4 76 2 4 18 3 8 28 c 1f 18 6c q 10o4 3
 318 70 3 c3 6 m 1 2 8 w 2a 37 1o 6t a 12 2 1p 3 g 8 1 7 t 4 29 28 a 2 10 1q j c j c 2e 9 o 3r 2c 1 1y 1 1 2 0 2 1 2 3
 1 b 1 0 1 6 1 1s 1 3 2 7 1 6 1 r 1 3 1 4 1 0 3 6 1 9g 1 83 2 1d lc s 3f8 1v 24 1o jm 17 4 2r c e 2 e 1 e 1 10 a 4u 1j
 p 1 1 d 17 4 8 7 1 e 5 4a rd 2 g 3 c 3 63 4 b 4 r 4 1j 8 9 6 13 8 t 2 b 4 1 e 8 13 9j 8 d 2 c 3 1y 1 0 3 h 1 c 3 b 5
 42 1 2u gvly 0 u 2n
"""

SCRIPT_EXTENSIONS = """
Adlm: 17j 0 w 0 55a 0 2r5 0
Aghb: lg 0 18 0 18 0
Arab: 170 0 e 0 3 0 w 0 a a q 0 53y 0 2r5 0 14vw 1 140 r
Armn: lk 0
Avst: 53 0 8zc 1
Beng: jg 0 1as 1 h 1 3u2 0 1 0 2 1 1 0 8 0 8 0 2 0 4 0 2 2 rnd 0
Bopo: jr 0 1 2 d 0 8x3 2 4 9 1 c a 3 2 0 6 0 5f 0 14jt 1 7u 4
Bugi: xjj 0
Buhd: 4l1 1
Cakm: 1ye 9 18w 9
Cari: 53 0 68y 0 2 0 2qb 0
Cher: lc 2 1 0 6 1 m 1 b 1
Copt: 53 0 g8 0 3 1 1 0 30 1 8f5 0 1614 r
Cpmn: 1erk 1
Cprt: 1erk 2 4 18 3 8
Cyrl: jg 0 1v 2 1 0 1 0 1 0 2 0 5 0 ab 1 50x 0 37u 0
Deva: jg 0 1as 1 h 1 3u2 10 3 1 s6 0 qpr 9
Dogr: 1us b vcw 9
Dupl: 53 0 gf 1 1 0 o 1 8if 0 26oz 3
Elba: 53 0 gd 0
Ethi: lq 0
Gara: 170 0 e 0 3 0
Geor: 53 0 y9 0 29d 0 31a 0 2qe 0
Glag: 53 0 gb 0 1 0 am 0 2 0 75 0 29d 0 31a 0 2qw 0 nqj 0
Gong: 53 0 1po 1
Gonm: 1us 1
Goth: 53 0 gc 1 2 0 14 0
Gran: 1u9 1 h 1 hs d 3bw 0 1 1 u 2 3 1 s6 0 1buy 0 2hg 1 1 0
Grek: 53 0 g8 1 2 0 1 0 1 0 a 0 1a 0 2 0 1a 0 56z 1 ij 0
Gujr: 1u9 1 h 1 vd6 9
Gukh: 1ut 0
Guru: 1u9 1 h 1 vd6 9
Hang: 9hd 2 4 9 1 c g 0 6 0 5f 0 14jt 1 7u 4
Hani: 53 0 9bs f 1 2 2 0 1 9 1 c a 3 2 0 6 0 4 3 57 0 44 f w 11 9 0 1c 13 1k 1c f b 1f 0 2g o a 4 2o u mpt 7 h8d 1 7u
 4 15ve h 63i 1
Hano: 4l1 1
Hebr: lj 1
Hira: 9hd 2 4 9 1 c g 5 1 0 4 1 2j 3 3 0 2i 1 14js 1 7u 4 a 0 19 1
Hung: 6e2 0 2 0 2qb 0 f 0
Java: xjj 0
Kali: xf2 0
Kana: lh 0 t 0 8v1 2 4 9 1 c g 5 1 0 4 1 2j 3 3 0 2i 1 14js 1 7u 4 a 0 19 1
Khoj: 25i 9 v28 9
Knda: 1u9 1 h 1 f1 0 3f0 0 1 1 6 0 n 0 1 0 ri3 5
Kthi: 1uu 9 79d 0 o3i 9
Latn: 53 0 ec 0 a 0 1 2 1 0 9 0 1 0 12 e 1 1 1 0 f 2 7 1 1 1 12 0 5 0 4 c 7p 1 y2 1 1ig 0 2kc 0 fq 0 5c 0 2li 0 nvs 7
 fa 0
Limb: 1ut 0
Lina: 1err 18
Linb: 1erk 2 4 18 3 8
Lisu: jg 0 g 0 8xo 1
Lyci: 6e2 0
Lydi: 53 0 8zd 0
Mahj: 53 0 1po b vcw 9
Mand: 18g 0
Mani: 18g 0
Mero: 6e5 0
Mlym: 1u9 1 h 1 f1 0 3fa 0 n 0 ri5 2
Modi: x80 9
Mong: 4qq 1 1 0 1m1 0 34h 1 5 3
Mult: 21y 9
Mymr: xf2 0
Nand: 1u9 0 i 1 ow 9 35l 0 8 0 7 0 rhx 5
Newa: 1u9 1 3uq 0 1 1 9 0 6 0 1 0 1 0
Nkoo: 170 0 e 0 3 0 1cta 1
Onao: 1us 1
Orkh: 6e2 0 2qd 0
Orya: 1u9 1 h 1 3uc 0 n 0
Osge: ld 0 2 0 6 0 24 0
Ougr: 18g 0 1fht 0
Pcun: 1lxs 1i 5 1 c d
Perm: 53 0 g8 0 5 2 a 0 a7 0
Phag: 4qq 1 1 0 1m1 0 34i 0
Phlp: 18g 0
Rohg: 170 0 e 0 3 0 w 0 43 0
Runr: 4iz 2
Samr: 94h 0
Shaw: 53 0
Shrd: 1u9 0 3ut 0 1 0 2 1 2 0 9 0 2 0 ria 5 2 0
Sind: 1us 1 vd6 9
Sinh: 1us 1 3v0 0
Sogd: 18g 0
Sunu: lc 1 1 0 9 0 2 0 s 0 3 0
Sylo: 1us 1 3k 9
Syrc: lf 1 2 1 1 0 o 2 7 1 1 1 ka 0 e 1 2 0 w 0 a a q 0 4nb 0 1 0
Tagb: 4l1 1
Takr: 1us 1 vd6 9
Tale: lc 1 5 1 3 0 2lv 9
Taml: 1u9 1 h 1 3uc 0 ro8 0 ky5 0 1 0 1j 1
Tang: 9gw f dr 0
Telu: 1u9 1 h 1 f1 0 3f5 1 1 0 1 0 n 0
Tfng: le 0 1 0 1 3 p 0
Tglg: 4l1 1
Thaa: 170 0 e 1 2 0 1s 9 1cw8 0 a 0
Thai: jg 0 q 0 17 0 19 0
Tibt: 9hk 3
Tirh: 1u9 1 h 1 3u7 0 c 0 f 0 ri5 9
Todr: ld 0 2 0 2 0 9 0 1 0 22 0
Toto: jg 0
Tutg: 2jq 9 35u 0 1 0 ri3 5 57 0
Yezi: 170 0 e 0 3 0 1s 9
Yiii: 9hd 1 5 9 2 7 67 0 14rp 4
"""

BINARY = """
Alphabetic Alpha: 1t p 6 p 1b 0 a 0 4 0 5 m 1 u 1 cp 4 b e 4 7 0 1 0 2e 0 t h 1 1 2 3 1 0 6 0 1 2 1 0 1 j 1 2a 1 3u 8
 4l 1 11 1 1 6 14 2 1 z d 1 0 1 1 1 1 1 2 6 q 4 3 t a 5 1j 1 6 e 2t 1 7 4 7 4 2 a 2 2 0 g 1b d 2s o w 9 1 4 0 5 n 2 i
 j o 7 a 5 n 1 6 7 0 8 15 a b 3 6 6 23 1 f 1 2 4 e d i 1 7 2 1 2 l 1 6 1 0 3 3 3 7 2 1 2 1 1 0 8 0 4 1 1 4 c 1 a 0 4 2
 1 5 4 1 2 l 1 6 1 1 1 1 1 1 4 4 4 1 2 1 4 0 7 3 1 0 h 5 b 2 1 8 1 2 1 l 1 6 1 1 1 4 3 8 1 2 1 1 3 0 f 3 l 3 4 2 1 7 2
 1 2 l 1 6 1 1 1 4 3 7 2 1 2 1 9 1 4 1 1 4 d 0 g 1 1 5 3 2 1 3 3 1 1 0 1 1 3 1 3 2 3 b 4 4 3 2 1 2 3 0 6 0 14 c 1 2 1
 m 1 f 3 7 1 2 1 2 8 1 1 2 1 1 2 3 s 3 1 7 1 2 1 m 1 9 1 4 3 7 1 2 1 2 8 1 5 2 1 3 d 2 c c 1 2 1 14 2 7 1 2 1 2 1 0 5
 3 7 4 m 5 1 2 1 h 3 n 1 8 1 0 2 6 8 5 1 0 1 7 i 1 d 1l 5 6 6 0 1f 1 1 0 1 4 1 n 1 0 1 i 1 2 2 4 1 0 6 0 e 3 w 0 1r 7
 1 z 4 i 4 f 1 z 1v 1i 1 0 2 4 g 1r a 3 2 11 1 0 5 0 2 16 1 98 1 3 2 6 1 0 1 3 2 14 1 3 2 w 1 3 2 6 1 0 1 3 2 e 1 1k 1
 3 2 1u 11 f g 2d 2 5 3 h7 2 g 1 p 5 22 3 a 7 j b k c j c c 1 2 1 1 c 1f 2 i e 0 4 0 1v 2g 7 16 5 1x a u 1 b 4 8 n t 2
 4 b 17 4 p 1i r 4 1q 2 j 1e 0 n 1 b 2 1d 1f 1 e 1 7 1f 15 2 3 a 17 1 a e 1i m 2 a z 2 a 5 16 2 2 15 3 1 5 1 1 3 0 5
 5b j x b 7p 2 5 2 11 2 5 2 7 1 0 1 0 1 0 1 u 2 1g 1 6 1 0 3 2 1 6 3 3 2 5 4 c 5 2 1 6 38 0 d 0 f g 2q 0 4 0 2 9 1 0 3
 4 6 0 1 0 1 0 1 3 1 a 2 3 5 4 4 0 h 14 ml 1f 1ee 6c 6 3 3 1 c 11 1 0 5 0 2 1j 7 0 g m 9 6 1 6 1 6 1 6 1 6 1 6 1 6 1 6
 1 v 1b 0 d1 2 p 8 7 4 2 4 4 2d 6 2 1 2h 1 3 5 16 1 2l h v 1c f e8 533 1s h3g 1v 19 2 7g 3 f a 1 k 1a 5 7 3 34 13 8 2
 2u 2 2a 4 0 e k 1 w o 1f c 1v 1 0 18 5 3 0 1 2 a w 5 y d s 3 1e 1 b f 0 g f a 4 1 1i 9 d i m 3 1w 1 0 1 0 o 2 2 f 2 3
 b 5 2 5 2 5 9 6 1 6 1 16 1 d 2 1 2 3e l 8mb c m 4 1c 6is a5 2 2x 12 6 c 4 5 b 1 c 1 4 1 0 1 1 1 1 1 2z x a2 i 1r 2 1h
 14 b 38 4 1 3q 10 p 6 p b 2g 3 5 2 5 2 5 2 2 z b 1 p 1 i 1 1 1 e 2 d y 3e 1x 1g 7f s 3 1c 1b v d t 5 16 5 t 2 z 4 7 1
 4 16 4d i z 4 z 4 13 8 1f c a 1 e 1 6 1 1 1 a 1 e 1 6 1 1 3 1f c 8m 9 l a 7 o 5 1 15 1 d 1s 5 2 0 1 17 1 1 3 0 2 m a
 m 9 u 1t i 1 1 a l a p 6 p 12 1j 6 1 1s 3 1 1 5 7 1 2 1 s 16 s 3 s z 7 1 r r 1h a l a i d h 32 20 1j 1e d 1e d 13 y r
 3 0 5 m 6y 15 1 1 3 1 g 5 3 2 b l 4 0 1 0 1 1 1 2 3 s a 0 8 l 16 h 1a k r m 9 1x 17 4 a 1k 9 0 d o n 1e h 3 8 y 3 0 9
 1r 1 3 9 1 a 0 1 0 z h 1 x 2 0 6 3 1q 6 1 0 1 3 1 e 1 9 7 1k n 3 1 7 2 1 2 l 1 6 1 1 1 4 3 7 2 1 2 1 3 0 6 0 5 6 s 9
 1 0 2 0 1 11 1 9 1 0 2 0 1 3 1 1 3 0 1 0 18 1t 1 2 1 3 k 2 u 1t 2 1 1 0 54 1h 2 6 p 5 y 1q 1 0 3 0 1n 1h 2 0 1z q 2 d
 l 6 55 1k 2v 1r v 7 2 0 2 7 1 1 1 t 1 1 2 1 2 3 2l 7 2 19 2 5 1 0 1 1 r 1e 2 9 h 1z 5 0 i 20 h 0 2d 7 2g w v 8 1 18 1
 6 1 0 1d t 2 l 1 d 21 6 1 1 1 17 3 0 1 1 1 2 1 0 2 1 o 5 1 1 1 10 1 1 1 3 1 0 n 17 k 1 6m m 9 g 1 14 3 2 33 0 27 pl
 2u 33 5 5q c 8m 1s9 2o f tr h 5 p 32y 5 g6 5a1 1a 1ch fs 7 u h 26 h t i 1b g 3 v k 5 i c0 18 5v 1r w o 2 o 18 22 4 1k
 7 g 1s 1 1 0 c 6 9 5p6 10 x 2n 36 d pd e 1e 5y5 3 1 6 1 1 1 88 9 0 t 2 2 0 e 4 7 az 1s4 2y 5 c 3 8 7 9 4 0 4m9 2c 1
 1y 1 1 2 0 2 1 2 3 1 b 1 0 1 6 1 1s 1 3 2 7 1 6 1 r 1 3 1 4 1 0 3 6 1 9g 1 o 1 o 1 u 1 o 1 u 1 o 1 u 1 o 1 u 1 o 1 7
 1f8 3l e 6 1i 1l 1 g 2 6 1 1 1 4 5 1p x 0 34 18 a 6 g 0 8x t i 17 dg r 6c t 2 0 5r u 1 l 8 1 68 6 1 3 1 1 1 e 1 5g 1n
 1v 3 0 3 0 xg 3 1 q 1 1 1 0 2 0 1 9 1 3 1 0 1 0 6 0 4 0 1 0 1 0 1 2 1 1 1 0 2 0 1 0 1 0 1 0 1 0 1 1 1 0 2 3 1 6 1 3 1
 3 1 0 1 9 1 g 5 2 1 4 1 g hg p 6 p 6 p 2uu wyn w 3dq 1 4gd 2 5rk f h9 1wi f1 15u 3t6 5 6jt upy 8qn
Bidi_Control Bidi_C: 17g 0 54h 1 q 4 1j 3
Case_Ignorable CI: 13 0 6 0 b 0 z 0 1 0 1z 0 4 0 1 0 4 0 2 1 dz 5b 4 1 4 0 9 1 1 0 6z 6 5q 1 5 0 17 1 4 18 1 0 1 1 1
 1 1 2 16 0 b 5 a a 1 0 z 0 a k g 0 2t 7 1 9 1 3 x 0 1 0 u q 2j a 1m a 4 0 2 0 o n 17 2 18 0 7 1 5 8 15 1l 1j 0 1 0 4
 7 4 0 3 6 a 1 d 0 f 0 1m 0 4 3 8 0 k 1 q 0 2 1 1l 0 4 1 4 1 2 2 3 0 u 1 3 0 b 1 1l 0 4 4 1 1 4 0 k 1 m 5 1 0 1m 0 2 0
 1 3 8 0 5 3 b 1 u 0 1p 0 c 0 1e 0 3 0 1j 0 1 2 5 2 1 3 7 1 b 1 t 0 1m 0 2 0 6 0 5 1 k 1 s 1 1l 1 4 3 8 0 k 1 t 0 20 0
 7 2 1 0 2i 0 2 6 b 8 2q 0 2 8 9 0 1 6 21 1 r 0 1 0 1 0 1j d 1 4 1 1 5 a 1 z 9 0 2u 3 1 5 1 1 2 1 p 1 4 2 g 3 d 0 2 1
 6 0 f 0 2m 0 gw 2 qa 2 t 1 u 1 u 1 1s 1 1 6 8 0 2 a 3 0 5 0 19 4 1f 0 1t 1 y 0 3a 2 4 1 9 0 6 2 63 1 2 0 1m 0 1 6 1 0
 1 0 2 7 6 9 2 0 13 0 8 1s f 3 1c 0 1 4 1 0 5 0 14 8 c 1 w 3 2 1 1 2 1k 0 1 1 3 0 1 2 1m 7 2 1 1s 5 2a 2 1 c 1 6 4 0 6
 0 3 1 1e 1q d 0 y 2s cd 0 1 2 b 2 d 2 d 2 d 1 c 4 8 1 a 0 2 0 2 4 1d 4 1 9 1 0 d 0 f g 1c w 2a3 1 35 2 3h 0 f 0 2o v
 1b 0 d1 0 10 3 3 4 5 0 2l 5 2l 2 lxy 0 yq 5 7i 0 2q 3 1 9 1 0 s 3 28 1 e x 26 0 n 2 2u 3 3 1 8 0 3 0 4 0 p 1 5 0 47 1
 q h d 0 12 7 p a 1a 2 1c 0 2 3 2 1 h 0 l 1 1u 5 2 1 2 1 c 0 8 0 z 0 b 0 1f 0 1 2 2 1 5 1 1 0 r 0 e 1 5 1 1 0 2s 4 9 2
 3d 0 2 0 4 0 fn4 0 43 g fx f 3 0 c f y 0 2 0 4p 0 7 0 6 0 b 0 z 0 1 0 1b 0 19 1 1v 0 l 2 e9 0 6a 0 45 4 sl 5 1 15 1 d
 g1 2 1 1 5 3 14 2 4 0 4l 1 fx 3 12 0 q 4 1 0 8r 1 o 0 3 6 w f 1y a 1d 3 3f 0 1i e 15 0 2 1 a 2 1d 3 2 1 2 0 4 0 a 0
 1e 2 10 4 1 7 1q 0 c 1 1g 8 a 3 2 0 2n 2 2 0 1 1 6 0 2 0 4d 0 3 7 l 1 1l 1 3 0 11 6 3 4 1y 5 d 0 1 0 1 0 e 1 2d 7 2 2
 1 0 n 0 2c 5 1 0 4 1 1 1 6m 3 6 1 1 1 r 1 2d 7 2 0 1 1 2y 0 1 0 2 5 1 0 2t 0 1 0 2 3 1 4 77 8 1 1 74 1 1 0 4 0 40 3 2
 1 4 0 w 9 14 5 2 3 8 0 9 5 2 2 1a c 1 1 5i 0 1 2 1 0 5l 6 1 5 1 0 2a l 2 6 1 1 1 1 3e 5 3 0 1 1 1 6 1 0 20 1 3 0 1 0
 1t 0 m 0 76 1 b 1 1g 4 5 0 1 0 n 0 445 g 6 e 8ug b 3 2 1xc 4 1n 6 9 3 e4 2 14 1 de 0 1r g 1s 1 1 1 d 1 cn0 3 1 6 1 1
 2hq 1 1 3 3mk 19 2 m dc 1 1q 2 9 f 2 6 u 3 44 2 m 1 1ib 1i 4 1d 8 0 e 0 m 4 1 e 10d 1l 1 g 2 6 1 1 1 4 5 1p x 0 4g d
 a8 0 1p 3 e3 4 72 1 6r 0 2 0 7 1 5 0 9 0 cw 6 31 7 23z 4 gx6p 0 u 2n 3k 6n
Cased: 1t p 6 p 1b 0 a 0 4 0 5 m 1 u 1 5e 1 3 4 5r 2 y 7 1 u 4 2o 0 16 3 2 1 2 3 1 0 6 0 1 2 1 0 1 j 1 2a 1 3u 8 4l 1
 11 1 0 7 14 2 1 26r 11 1 0 5 0 2 16 1 3 io 2d 2 5 1oi a 5 16 2 2 1s 5b 1s 7p 2 5 2 11 2 5 2 7 1 0 1 0 1 0 1 u 2 1g 1
 6 1 0 3 2 1 6 3 3 2 5 4 c 5 2 1 6 38 0 d 0 g f 2q 0 4 0 2 9 1 0 3 4 6 0 1 0 1 0 1 3 1 5 4 0 2 3 5 4 4 0 h v 3 1 mp 1f
 1ee 6c 6 3 3 1 c 11 1 0 5 0 nwy 19 i t 3o 2t 3 3 1 25 4 0 e 5 1 2 mt 16 1 d 2 1 2 27 fnk 6 c 4 sp p 6 p x1 27 2o z 4
 z 38 a 1 e 1 6 1 1 1 a 1 e 1 6 1 1 cj 0 2 2 1 15 1 d xs 1e d 1e 2l l a l 26y 1r gv4 1r w o 2 o jzg 2c 1 1y 1 1 2 0 2
 1 2 3 1 b 1 0 1 6 1 1s 1 3 2 7 1 6 1 r 1 3 1 4 1 0 3 6 1 9g 1 o 1 o 1 u 1 o 1 u 1 o 1 u 1 o 1 u 1 o 1 7 1f8 9 1 38 g
 6 1i 1e 1c 1p 1oy 1v 1kc p 6 p 6 p
Dash: 19 0 124 0 1f 0 2td 0 sl 0 1l5 5 1p 0 13 0 f 0 au 0 2dg 0 2 0 v 1 4 0 s 0 ce 0 j 0 33 0 14ls 1 11 0 a 0 4p 0
 2u8 0 8u 0
Default_Ignorable_Code_Point DI: 4t 0 ip 0 jw 0 282 1 18z 1 2d 4 1kr 4 q 4 1d f 3ck 0 14ez f 6n 0 4g 0 27 8 119j 3
 43z 7 h405 35r
Deprecated Dep: 95 0 10p 0 1s3 0 1 0 1m1 1 1qd 5 jd 1 jh06 0
Diacritic Dia: 2m 0 1 0 1z 0 6 0 4 0 2 1 dz 4e 1 7 5 5 h 1 4 0 9 1 71 4 5s 1 1d 1 4 18 1 0 1 1 1 1 1 2 3l 7 3 2 3q 1
 1 0 2 1 3 2 1v q 2j a 1m a y 1 3i 7 15 a f r 1p 0 g 0 3 3 s 0 22 0 g 0 32 0 g 0 32 0 g 0 1b 2 1o 0 g 0 5 2 3b 0 32 0
 g 0 32 0 g 0 31 1 g 0 3g 0 33 0 c 5 1 0 2z 0 d 4 23 1 r 0 1 0 1 0 4 1 1u 2 1 1 1q 0 34 0 1 1 14 1 4 4 p 6 1 0 a 1 jl
 2 qc 1 u 0 44 a 9 0 9n 2 84 0 k 7 2 0 1c e 2 a 3 x 1v 0 f 0 12 8 1i 1 1m 0 b 1 1u 1 1s 5 2a o 4 0 6 0 2 2 1e 1q 1c z
 5 b 11 a cd 0 1 2 b 2 d 2 d 2 d 1 40 0 2fz 2 8t 0 e2 5 2x 3 2n 0 n76 0 c 1 1 0 s 1 2a 1 e x 2u 2 2u 0 6 1 c 0 11 0 47
 0 r h 1l 3 10 0 2n 0 c 0 10 0 45 2 1t 3 1f 0 2s 4 9 2 3k 1 fn4 0 ld f 7i 0 1 0 1b 0 19 1 1v 0 l8 0 wv 5 1 15 1 8 hp 2
 4 0 4l 1 fv 5 12 0 q 4 9p 4 w 7 1 1 2 2 1y a 1d 3 5c 0 15 0 20 1 3c 1 1q 0 24 0 9 2 2w 1 4y 1 28 1 g 0 o 6 3 4 2h 2 1
 1 d 1 2n 0 3 0 3f 1 6z 1 3i 0 3a 1 37 0 7h 1 76 1 4 0 4c 0 2b 0 i 0 29 0 bp 0 76 0 1 1 29 0 1t 0 9z 1 n 0 44s e 8ux 0
 1xc 4 1n 6 fo 1 f6 g 28 1 cn2 3 1 6 1 1 64h 19 2 m f4 2 3 5 8 7 2 6 u 3 4i 2 8 1 2nk 2 1 1a 1c 1p 5e 6 af 0 1p 3 la 1
 kg 6 31 2 1 2
Emoji: z 0 6 0 5 9 33 0 4 0 68d 0 c 0 60 0 m 0 2i 5 f 1 a7 1 c 0 4m 0 p a 4 2 5j 0 6f 1 a 0 9 0 1m 3 1 4 9 0 2 0 2 1
 2 0 4 0 2 0 1 1 2 0 3 0 3 1 8 2 5 0 1 0 5 b b 1 2 0 1 1 1 0 i 0 2 1 i 5 1 0 1 1 3 1 5 0 2 1 4 1 b 1 5 1 2 0 5 1 1 0 1
 1 k 1 5 5 1 3 2 0 4 0 2 0 2 5 1 0 2 0 1 0 1 0 6 0 3 0 6 0 a 1 f 0 2 0 4 0 1 0 4 2 1 0 b 1 1c 2 9 0 e 0 e 0 ac 1 cv 2
 j 1 1f 0 4 0 yi 0 c 0 gp 0 1 0 2fze 0 5m 0 4g 1 c 1 e 0 2 9 23 p 1 1 n 0 k 0 2 8 l 1 4u x 2 33 2 1 1 2 2 2a 2 2 1 7a
 1 1q b 5 1 n 7 1 2 7 c 0 2 3 2 0 4 1 d 1 2 0 8 1 9 0 5 2 c 2 8 2 2 0 1 0 4 0 6 0 3 0 6 2d 1c 1x 5 7 2 4 2 9 3 0 1 1 3
 0 2 9 6b b 4 0 7v 1a 1 9 1 54 34 c 3 1y 1 0 3 h 1 c 3 b
Emoji_Component EComp: z 0 6 0 5 9 6ab 0 5x 0 17or 0 1c5y p e3 4 14g 3 gw30 2n
Emoji_Modifier EMod: 2qrf 4
Emoji_Modifier_Base EBase: 7j1 0 63 0 g 3 2iyf 0 1o 2 2 0 2 2 39 1 2 a l i 3 0 4 2 1 2 7 0 1 0 o 0 5l 1 4 0 l 0 4 1
 4u 2 3 4 2b 0 g 2 9 0 b 0 fz 0 2 0 8 7 6 0 9 9 2 2 1k 0 1p 1 1 1 1 0 h 2 1 c 6d 2 16 a
Emoji_Presentation EPres: 6xm 1 5p 3 3 0 2 0 eh 1 l 1 1e b 17 0 j 0 d 0 8 1 h 1 5 1 8 0 5 0 l 0 7 1 1 0 4 0 2 0 7 0 4
 1 s 0 z 0 1 0 4 2 1 0 1p 2 o 0 e 0 nv 1 1f 0 4 0 2hf2 0 5m 0 5a 0 2 9 23 p 1 0 o 0 k 0 2 4 1 2 l 1 4u w c 8 1 1x 1 l
 c 16 4 4 c g 3 0 3 1y 1 0 1 56 2 1q d 3 1 n i 0 q 1 d 0 2e 2c 1c 1x 6 0 3 2 2 4 2 3 b 1 7 8 6b b 4 0 7v 1a 1 9 1 54
 34 c 3 1y 1 0 3 h 1 c 3 b
Extended_Pictographic ExtPict: 4p 0 4 0 68d 0 c 0 60 0 m 0 2i 5 f 1 a7 1 c 0 4m 0 p a 4 2 5j 0 6f 1 a 0 9 0 1m 3 1 4
 9 0 2 0 2 1 2 0 4 0 2 0 1 1 2 0 3 0 3 1 8 2 5 0 1 0 5 b b 1 2 0 1 1 1 0 i 0 2 1 i 5 1 0 1 1 3 1 5 0 2 1 4 1 b 1 5 1 2
 0 5 1 1 0 1 1 k 1 5 5 1 3 2 0 4 0 2 0 2 5 1 0 2 0 1 0 1 0 6 0 3 0 6 0 a 1 f 0 2 0 4 0 1 0 4 2 1 0 b 1 1c 2 9 0 e 0 e
 0 ac 1 cv 2 j 1 1f 0 4 0 yi 0 c 0 gp 0 1 0 2fze 0 13 3 2s b f 1 f 0 e 1 11 9 34 1 c 1 e 0 2 9 k 1i r e a 0 k 0 2 8 1
 3 9 m 6 57 2 33 2 1 1 2 2 2a 2 2 1 3 5 71 1 1q b 5 1 n 7 1 2 7 c 0 2 3 2 0 4 1 d 1 2 0 8 1 9 0 5 2 c 2 8 2 2 0 1 0 4
 0 6 0 3 0 6 2d 1c 1x 5 7 2 g 3 0 1 5 2 c 64 k r 3 1k 7 a 5 14 7 u 1 c 3 2 d 9 12 c 1a 1 9 1 54 2g 7 e 41 74 sd
Extender Ext: 53 0 ew 1 oe 0 c9 0 hi 0 3t 0 2g 1 kw 0 3j 0 1tv 0 1k 0 gz 0 b2 0 1w 0 3ux 0 17 4 2v 1 2l 2 lxy 0 16e 0
 qq 0 m 0 3t 0 30 0 l 1 gor 0 1lc 1 157 0 r 0 4 0 xz 0 85 0 38 1 du 2 y7 0 n4 0 fag 1 ws 1 1 0 e 1 mdk 1 xd 0 no 2
Grapheme_Base Gr_Base: w 2m x c 1 gh 34 7 2 5 4 6 1 0 1 j 1 67 7 4l 1 11 1 1j 1a 0 1 0 2 0 2 0 9 q 4 5 h 9 b 0 1 19 l
 f 1 2s 8 0 6 1 2 0 4 v 2 0 1 t t 2g b 0 e 16 9 6 3 n 4 0 9 0 3 0 7 e 1 o 5 0 1 a 5 v g 15 1l 1i 1 0 1 3 8 3 1 2 7 9 2
 s 1 1 1 7 2 1 2 l 1 6 1 0 3 3 3 0 1 1 6 1 2 1 1 0 d 1 1 2 4 n 5 0 1 5 4 1 2 l 1 6 1 1 1 1 1 1 4 2 o 3 1 0 7 9 2 2 1 0
 c 0 1 8 1 2 1 l 1 6 1 1 1 4 3 3 8 0 1 1 3 0 f 1 4 b 7 0 8 1 1 7 2 1 2 l 1 6 1 1 1 4 3 0 2 0 6 1 2 1 f 1 1 2 4 h b 0 1
 5 3 2 1 3 3 1 1 0 1 1 3 1 3 2 3 b 5 0 1 1 3 2 1 2 3 0 l k 6 2 1 7 1 2 1 m 1 f 3 0 3 3 j 2 1 1 2 1 4 9 7 9 1 a 1 2 1 m
 1 9 1 4 3 1 2 0 1 1 n 2 1 1 4 9 1 2 e a 1 2 1 14 2 0 1 1 5 2 1 2 1 1 4 2 1 9 4 p 2 1 1 h 3 n 1 8 1 0 2 6 9 1 6 6 7 9
 2 2 c 1b 1 1 b 7 8 c 11 1 1 0 1 4 1 n 1 0 1 9 1 1 9 0 2 4 1 0 9 9 2 3 w n 2 q 1 0 1 0 1 d 1 z i 0 5 0 2 4 1d 7 1 5 1
 c 11 18 4 0 6 0 2 1 2 o 2 3 3 f 4 c 1 1 2 5 1 e 1 13 1 0 5 0 2 ag 1 3 2 6 1 0 1 3 2 14 1 3 2 w 1 3 2 6 1 0 1 3 2 e 1
 1k 1 3 2 1u 5 s 3 p 6 2d 2 5 2 ik 3 2g 7 h d i 3 1 9 h e c 1 2 f 1f 2 0 7 7 1 1 b 8 3 9 6 9 6 a 5 9 6 2g 7 4 2 x 1 0
 5 1x a u 4 3 2 2 4 1 1 5 7 0 3 15 2 4 b 17 4 p 6 a 3 1k 2 1 3 1j 1 0 9 0 1 1 8 5 d 9 6 9 6 d 2e 1b a 3 3 7 1 s 9 b 2
 v 4 1 6 1j 1 0 2 2 1 0 d 1b 8 1 5 e 3 1p 5 16 2 a b 0 d 0 7 3 1 5 1 2 2 0 5 5b 1s 7p 2 5 2 11 2 5 2 7 1 0 1 0 1 0 1 u
 2 1g 1 e 1 d 2 5 1 i 2 2 1 8 1 a 5 n 7 1c g 1 2 28 1n 3v 4 ih m a l 1eb 2 ag 3 1 5 18 1 0 5 0 2 1j 7 1 f m 9 6 1 6 1
 6 1 6 1 6 1 6 1 6 1 6 x 2l 2 3 s p 1 2g c 5x q 1l 6 f 1 2d 4 2s 5 16 1 2l 1 2d 9 1b 1 mlo 3 1i 9 9n k 1a 4 0 a v 2 27
 2 5 8 65 4 0 e g 1 2 1 3 1 o 2 4 4 9 6 1j 8 1v a b o c 1 11 8 o b 0 c t 6 1b 1 1 4 1 2 1 1 c 1 a 4 6 1 o 1 14 6 1 2 1
 b 2 1 7 1 0 2 9 2 v 1 1e 1 0 3 1 2 4 2 0 1 0 o g 2 7 b 5 2 5 2 5 9 6 1 6 1 1p 2 38 1 1 1 3 3 9 6 8mb c m 4 1c 6is a5
 2 2x 12 6 c 4 5 0 1 n 1 4 1 0 1 1 1 1 1 i1 w f g 9 m y 1 i 1 3 4 4 1 3q 4 4c 2 u 3 5 2 5 2 5 2 2 3 6 1 6 d 1 2 b 1 p
 1 i 1 1 1 e 2 d y 3e 5 2 4 18 3 2f 1 c 3 0 1b 18 3n s 3 1c g q 4 z 9 t 5 11 a t 1 10 4 d 16 4d 2 9 6 z 4 z 4 13 8 1f
 b b 1 e 1 6 1 1 1 a 1 e 1 6 1 1 3 1f c 8m 9 l a 7 o 5 1 15 1 d 1s 5 2 0 1 17 1 1 3 0 2 m 1 1z 8 8 1c i 1 1 5 w 3 q 5
 q 12 1j 4 j 2 1a f 3 1 2 1 s a 8 7 8 7 1r w 10 6 b 9 1h 3 s 2 q 5 p 7 3 c 6 28 20 1j 1e d 1e 7 15 c 9 6 11 8 n 8 1 5s
 u 1 15 3 0 2 1 g 5 1 1 5 u h 13 8 l b 8 m h 4 3 12 r k m 9 0 1 1h f 6 4 t 1 1 2 0 c 1c 4 1 2 1 1 3 e o 7 9 9 z 5 0 9
 h 8 y 1 2 b 1f 9 0 1 7 4 1 1 f 1 j b h 1 r 3 1 4 5 1 1 1r 6 1 0 1 3 1 e 1 a 6 1a 1 2 d 9 8 1 1 7 2 1 2 l 1 6 1 1 1 4
 3 0 1 0 1 3 2 1 2 1 3 0 c 6 s 9 1 0 2 0 1 11 1 0 1 1 f 0 1 1 3 0 1 2 1 1 13 1j 8 1 3 0 1 k 1 0 1 2 u 1b 1 1 6 0 1 1 1
 0 2 0 2 3 8 9 4m 1a 1 1 6 3 2 0 2 q 10 1e 8 1 1 0 2 3 b 9 6 c j 16 1 0 1 1 8 1 6 9 6 j s q 3 0 1 1 4 0 9 m 55 1a 9 0
 2 0 2s 2a c 7 2 0 2 7 1 1 1 n 1 4 1 1 6 3 1 2 9 9 1y 7 2 15 8 3 1 3 r 0 a 13 6 1 4 7 9 0 6 1 3 19 d 0 2 8 d 20 7 a 2e
 0 3 0 1 0 2g x e 9 6 8 1 11 e 0 1 5 a s 3 v p 0 7 0 2 0 23 6 1 1 1 11 l 0 9 9 6 5 1 1 1 10 4 1 1 0 1 0 7 9 6 17 4 9 7
 0 6m i 2 3 9 e 1 z 8 1 3 m 2e 0 f 1d d pm 2u 8z c 8m 1s9 2q d tr h 5 p 32y 5 g6 5a1 t c 2 3 9 1c6 fs 7 u 1 9 4 28 1 9
 6 t 7 0 a 1b 7 e a 9 1 6 1 k 5 i c0 1l 5i 2i 5 o 2 o 18 22 5 1j b c 1s 3 e 4 9 5p6 10 x 2n 36 d pd e 1e 5y5 3 1 6 1 1
 1 88 9 0 t 2 2 0 e 4 7 az 1s4 2y 5 c 3 8 7 9 2 0 2 0 31c 70 3 c3 6 m 1 2 8 w 2a 37 1o 6t a 12 2 1n 5 2 m 1 7 t 4 43 3
 0 d 7 2 1 1 v 1s j c j c 2e 9 o 3r 2c 1 1y 1 1 2 0 2 1 2 3 1 b 1 0 1 6 1 1s 1 3 2 7 1 6 1 r 1 3 1 4 1 0 3 6 1 9g 1 83
 2 fl 1j 3 1e 7 1 d 1 6 38 s rn 3l e 6 1i 1e 1c 1p 42 18 a 6 2 9 4 1 8w t i 17 4 9 5 0 cw r 4 9 5y t 2 a 4 0 5c u 1 2
 1 1 1 6 2 4 9 1 68 6 1 3 1 1 1 e 1 5g 2 8 1c 1v 7 0 4 9 4 1 lt 1v 24 1o 5e 3 1 q 1 1 1 0 2 0 1 9 1 3 1 0 1 0 6 0 4 0
 1 0 1 0 1 2 1 1 1 0 2 0 1 0 1 0 1 0 1 0 1 1 1 0 2 3 1 6 1 3 1 3 1 0 1 9 1 g 5 2 1 4 1 g 1g 1 7i 17 4 2r c e 2 e 1 e 1
 10 a 4u 1j s d 17 4 8 7 1 e 5 4a rd 2 g 3 c 3 63 4 b 4 r 4 1j 8 9 6 13 8 t 2 b 4 1 e 8 13 9j 8 d 2 c 3 1y 1 0 3 h 1 c
 3 b 5 42 1 2u sl wyn w 3dq 1 4gd 2 5rk f h9 1wi f1 15u 3t6 5 6jt upy 8qn
Grapheme_Extend Gr_Ext: lc 33 7n 6 7b 18 1 0 1 1 1 1 1 2 1y a 1c k g 0 2t 6 2 5 2 1 1 3 z 0 u q 2j a 1m 8 9 0 o 3 1 8
 1 2 1 4 17 2 1n 8 16 n 1 v 1j 0 1 0 4 7 4 0 3 6 a 1 t 0 1m 0 1 0 2 3 8 0 9 0 a 1 q 0 2 1 1l 0 4 1 4 1 2 2 3 0 u 1 3 0
 b 1 1l 0 4 4 1 1 4 0 k 1 m 5 1 0 1m 0 1 1 1 3 8 0 5 4 a 1 u 0 1n 0 1 0 c 0 9 0 14 0 3 0 1j 0 1 2 5 2 1 3 7 1 b 1 t 0
 1m 0 2 1 1 0 3 2 1 3 7 1 b 1 s 1 1l 1 1 0 2 3 8 0 9 0 a 1 t 0 20 0 4 0 2 2 1 0 8 0 29 0 2 6 c 7 2q 0 2 8 b 6 21 1 r 0
 1 0 1 0 1j d 1 4 1 1 5 a 1 z 9 0 2u 3 1 5 1 1 2 1 p 1 4 2 g 3 d 0 2 1 6 0 f 0 jj 2 qa 3 s 2 t 1 u 1 1s 1 1 6 8 0 2 a
 9 0 19 2 1 0 39 1 y 0 3a 2 4 1 9 0 6 2 63 1 2 0 1m 0 1 6 1 0 1 0 2 7 6 9 2 0 1c 1s f 3 1c 9 4 2 12 8 c 1 w 3 2 5 1k 0
 1 1 3 0 1 4 1k 7 2 1 48 2 1 c 1 6 4 0 6 0 3 1 5i 1r ek 0 5f w 2da 2 3x 0 2o v fe 5 2x 1 n9w 3 1 9 w 1 28 1 7k 0 3 0 4
 0 p 1 5 0 47 1 q h d 0 12 7 p a 1 0 18 2 1c 0 2 3 2 1 2 0 10 0 1v 5 2 1 2 1 c 0 8 0 1b 0 1f 0 1 2 2 1 5 1 1 0 16 1 8
 0 6m 0 2 0 4 0 fn4 0 kh f g f a6 1 gt 0 6a 0 45 4 1ae 2 1 1 5 3 14 2 4 0 4l 1 fx 3 1t 4 8t 1 u 4 w f 1y a 1d 3 3f 0
 1i e 15 0 2 1 a 2 1d 3 2 1 7 0 1p 2 10 4 1 7 1q 0 c 1 1g 8 1 0 8 3 2 0 2n 2 2 3 6 0 2 0 4d 0 3 7 l 1 1l 1 1 0 1 0 c 0
 9 0 e 6 3 4 1v 0 2 5 1 0 2 0 1 2 4 2 1 0 e 1 2d 7 2 2 1 0 n 0 29 0 2 5 1 0 2 0 1 1 1 1 6j 0 2 3 6 1 1 1 r 1 2d 7 2 0
 1 1 2y 0 1 0 2 7 2t 0 1 0 2 3 1 4 77 8 1 1 6t 0 a 3 4 0 40 3 2 1 4 0 w 9 14 5 2 3 8 0 9 5 2 2 1a c 1 1 5i 0 1 2 1 0
 5l 6 1 5 1 0 2a l 2 6 1 1 1 1 3e 5 3 0 1 1 1 6 1 0 20 1 3 0 1 0 2g 0 76 1 b 1 1g 4 5 2 n 0 44l 0 6 e 8ug b 3 2 1xc 4
 1n 6 t4 0 1r 3 29 0 b 1 f57 1 3mp 19 2 m dc 1 1o 4 3 5 8 7 2 6 u 3 44 2 b 2 8 1 2 0 w 1 1ha 1i 4 1d 8 0 e 0 m 4 1 e
 11s 6 1 g 2 6 1 1 1 4 2s 0 4g 6 af 0 1p 3 e4 3 72 1 6r 0 2 0 7 1 5 0 d6 6 31 6 gzbp 2n 3k 6n
IDS_Binary_Operator IDSB: 9gw 1 2 9 dt 0
IDS_Trinary_Operator IDST: 9gy 1
Ideographic Ideo: 9hi 1 p 8 e 2 qt 533 1s g73 hkw a5 2 2x n4a 0 d 4 9 5p6 10 x 2n 36 d pd e 1e 68t az f7o wyn w 3dq 1
 4gd 2 5rk f h9 1wi f1 15u 3t6 5 6jt upy 8qn
Join_Control Join_C: 6bw 1
Logical_Order_Exception LOE: 2tc 4 3f 4 25s 2 2 0 smy 1 2 0 1 1
Math: 17 0 g 2 v 0 t 0 1 0 19 0 4 0 11 0 v 0 k8 2 2 0 q 1 2 2 en 2 559 0 r 2 b 0 3 0 d 0 e 3 l 4 b 4 1t c 4 0 3 1 4 4
 i 0 4 0 2 9 1 0 2 5 6 0 3 1 2 1 1 2 1 5 3 d 1 0 1w n 1 5 1 1 4 1 4 v 1 0 6 1 e 7f 8 3 k 1 2i 0 u q 1 0 o 0 b 6 cd 1 c
 9 4 5 4 1 2 1 3 4 e 0 1 0 2 5 b 7 5 1 1l 0 1 0 t 3 9 2 9c 1r 74 e7 1c k 2 5 1524 0 mv 5 1 0 4i 0 g 2 t 0 1 0 t 0 1 0
 3n 0 6 3 2ox 1 126l 2 g d zm 2c 1 1y 1 1 2 0 2 1 2 3 1 b 1 0 1 6 1 1s 1 3 2 7 1 6 1 r 1 3 1 4 1 0 3 6 1 9g 1 83 2 1d
 lc s 3qb 3 1 q 1 1 1 0 2 0 1 9 1 3 1 0 1 0 6 0 4 0 1 0 1 0 1 2 1 1 1 0 2 0 1 0 1 0 1 0 1 0 1 1 1 0 2 3 1 6 1 3 1 3 1
 0 1 9 1 g 5 2 1 4 1 g 1g 1 1rd 0 l e 5s 8
Pattern_Syntax Pat_Syn: x e a 6 q 3 1 0 q 3 y 6 1 0 1 1 1 0 1 1 4 0 4 0 3 0 n 0 v 0 654 n 8 e 2 i 1 9 8h jz 4g hh u
 vf e8 3j ap 2 4 o f 0 14i5 1 79 1
Quotation_Mark QMark: y 0 4 0 3n 0 f 0 670 7 p 1 2rr 0 cp 3 d 2 14pt 3 59 0 4 0 2i 1
Radical: 96o p 1 2g c 5x
Sentence_Terminal STerm: x 0 c 0 g 0 11l 0 43 2 50 0 17 2 6u 0 1p 0 1 0 3 1 85 1 1d0 1 ly 0 4 1 lh 0 5i 1 4d 1 19 0 5
 0 8q 1 9u 3 4i 1 a 1 2 1 t 2 57 1 1t 1 pw 0 n 1 9 2 2i7 2 8i 0 d 0 m 1 b 1 bk 0 n3w 0 7i 1 6b 0 3 0 am 1 2e 1 2n 0 48
 1 43 2 40 1 6x 0 g86 0 2 1 1n 0 3 1 4p 0 c 0 g 0 1t 0 25w 1 zh 4 18 3 59 1 39 3 3j 2 3l 1 6 0 g 1 2g 1 1 1 30 0 8a 1
 39 1 ad 1 5 e 2x 1 6x 2 ed 0 1 0 6z 1 2f 1 bo 1 j8 1 22 1 euh 1 3p 0 1t 1 b 0 fd 1 88 0 feu 0 5wo 0
Soft_Dotted SD: 2x 1 5g 0 7t 0 u 0 1g 0 k 0 8w 0 2q 0 1 0 4y1 0 1f 0 d 0 3 0 3o 0 4d 0 bp 0 5y 1 27m 0 2bol 1 1e 1 1e
 1 1e 1 1e 1 1e 1 1e 1 1e 1 1e 1 1e 1 1e 1 1e 1 1e 1 1om 0 2c 2 2v 0 36 1 q 0
Terminal_Punctuation Term: x 0 a 0 1 0 b 1 3 0 n2 0 8 0 e9 0 1l 0 20 0 e 0 1 2 50 0 17 a 1 0 6j 1 1i 5 1 7 v 0 79 1
 z8 1 4s 0 4 5 8n 1 lx 7 lh 0 3g 2 1z 1 4d 2 3 0 13 3 2 1 8q 1 9u 3 4i 1 a 1 1 2 t 2 57 4 1q 1 pw 0 n 1 9 2 2i7 2 8i 0
 d 0 4 0 a 0 1 1 3 1 b 1 bj 1 n3v 1 7h 2 6b 4 am 1 2e 1 2n 0 47 2 43 2 3j 0 g 1 6x 0 g86 0 2 1 1l 2 1 3 4p 0 a 0 1 0 b
 1 3 0 1t 0 2 0 u2 0 1c 0 w6 0 5j 0 8m 1 48 5 1w 5 2h 3 qg 4 18 3 59 6 34 3 3j 2 3l 1 6 0 g 1 2g 4 30 0 8a 1 39 2 c 1
 9y 3 3 e 2x 1 6x 2 ed 0 1 0 6z 1 2f 1 4 1 bi 2 19 0 hx 1 22 1 10r 4 dtl 1 3p 0 1t 2 a 0 fd 1 87 1 feu 0 5wn 3
Unified_Ideograph UIdeo: a9s 533 1s g73 hse 1 1 0 1 1 a 0 1 0 1 1 2 2 1fpy wyn w 3dq 1 4gd 2 5rk f h9 3he 3t6 5 6jt
"""

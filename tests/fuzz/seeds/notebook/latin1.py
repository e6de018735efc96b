# -*- coding: latin-1 -*-
x = 'größe'
